// The settings of a lake as what the engine needs of them.

import { resolve } from 'node:path'
import type { LakeSettings } from '../core/lake.ts'
import { parseEndpoint, parseStoreUrl } from './urls.ts'
import { parseServerUrl } from '../core/server-url.ts'
import { extensionDirectory } from './extensions.ts'
import type { SettingValues } from './settings.ts'

/** Values have been checked by their types. */
export function lakeSettings(project: string, dir: string, settings: SettingValues): LakeSettings {
  const catalog = parsed(settings['lake.catalog'], (text) => parseServerUrl(text, 'postgres'))
  const password = settings['lake.password'] ?? catalog?.password ?? null
  const endpoint = parsed(settings['lake.s3_endpoint'], parseEndpoint)
  return {
    project,
    catalog: catalog && { ...catalog, password },
    schema: settings['lake.schema'] ?? project,
    store: {
      data: parsed(settings['lake.data'], parseStoreUrl),
      ...(endpoint ?? { endpoint: null, usesTls: true }),
      region: settings['lake.s3_region'],
      urlStyle: settings['lake.s3_url_style'],
      credentials: settings['lake.s3_credentials'],
      keyId: settings['lake.s3_key_id'],
      secret: settings['lake.s3_secret'],
      token: settings['lake.s3_token'],
      authority: parsed(settings['lake.s3_ca'], (path) => resolve(dir, path)),
      retrySeconds: settings['lake.s3_retry_seconds'],
    },
    encrypted: settings['lake.encrypted'],
    keepDays: settings['lake.keep_days'],
    extensionsDirectory: extensionDirectory(dir, settings['extensions.directory']),
  }
}

const parsed = <T>(text: string | null, parse: (text: string) => T | null): T | null =>
  text === null ? null : parse(text)
