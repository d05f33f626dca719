// The lake of projects whose models are made by hand: one database for all of a process, in which each project has a
// schema, and one engine that looks into them. An engine takes half a second to load its extensions.

import { randomBytes } from 'node:crypto'
import { LAKE_DATABASE, type LakeSettings, requireWhole } from '../../../src/core/lake.ts'
import { sql } from '../../../src/core/sql.ts'
import type { Connection } from '../../../src/duckdb/database.ts'
import { LakeEngine } from '../../../src/duckdb/open-lake.ts'
import { lakeSettingsOf } from './lake-settings-of.ts'
import { ownDatabase, type TestLake } from './with-lake.ts'
import { bucket, sharedServers, storeKeys } from './servers.ts'
import { places } from './parts.ts'

interface NewLake extends Pick<TestLake, 'settings' | 'env'> {
  readonly lake: LakeSettings
}

/** Of a project that is new. */
export async function newLake(): Promise<NewLake> {
  const servers = await sharedServers()
  const { database, user, password } = await (ours ??= ownDatabase(servers))
  const schema = `p_${randomBytes(6).toString('hex')}`
  const settings = {
    catalog: `postgres://${user}@127.0.0.1:${servers.postgresPort}/${database}`,
    schema,
    data: `s3://${bucket}/${schema}/`,
    s3_endpoint: `http://127.0.0.1:${servers.storePort}`,
    s3_url_style: 'path',
  }
  const env = {
    LAKE_PASSWORD: password,
    LAKE_S3_KEY_ID: storeKeys.keyId,
    LAKE_S3_SECRET: storeKeys.secret,
    EIDER_EXTENSIONS: places.extensions,
  }
  return { settings, env, lake: lakeSettingsOf({ settings, env }) }
}

let ours: ReturnType<typeof ownDatabase> | null = null
let engine: Promise<LakeEngine> | null = null
let attached = ''

/** To what a run has made. The project that was looked into before is so no longer. */
export async function connectToLake(settings: LakeSettings): Promise<Connection> {
  const lake = requireWhole(settings)
  const { database, control, sessionKeys } = await (engine ??= LakeEngine.open(lake, {
    applicationName: 'eider test',
    threads: 2,
  }))
  if (attached !== lake.schema) {
    if (attached !== '') await control.run(sql`DETACH ${sql.ident(LAKE_DATABASE)}`)
    attached = ''
    await control.run(sql`
      ATTACH 'ducklake:postgres:connect_timeout=10' AS ${sql.ident(LAKE_DATABASE)} (
        META_SECRET 'lake_catalog', METADATA_SCHEMA ${sql.value(lake.schema)},
        DATA_PATH ${sql.value(lake.store.data)}, DATA_INLINING_ROW_LIMIT 0, CREATE_IF_NOT_EXISTS false)`)
    attached = lake.schema
    database.onConnect([...sessionKeys, sql`USE ${sql.ident(LAKE_DATABASE)}`])
  }
  return database.connect()
}
