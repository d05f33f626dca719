// Which extensions of the engine a project needs, and why.

import os from 'node:os'
import { join, resolve } from 'node:path'
import type { ExtensionLock, Extensions } from '../core/extensions.ts'
import { extensionsOfSource, type ExternalSource } from '../core/sources.ts'
import { extensionsOfLake } from '../core/lake.ts'
import type { ProjectPaths } from '../core/project.ts'
import type { SettingValues } from './settings.ts'

interface NeededExtension {
  readonly name: string
  readonly neededBy: string
}

type ExtensionSettings = Pick<SettingValues, 'extensions.directory' | 'extensions.load'>

/** What every engine of a project loads; sources load theirs when they are attached. */
export const extensionsOf = (
  root: string,
  settings: ExtensionSettings,
  lock: ExtensionLock | null,
): Extensions => ({
  lock,
  directory: extensionDirectory(root, settings['extensions.directory']),
  names: settings['extensions.load'],
})

/** Without a setting that of the engine, so that what its shell has installed is there. */
export const extensionDirectory = (root: string, setting: string | null): string =>
  setting === null ? join(os.homedir(), '.duckdb', 'extensions') : resolve(root, setting)

/** With those of the sources and of the lake, which load theirs when they are attached. */
export const neededExtensions = (
  settings: ExtensionSettings,
  sources: readonly ExternalSource[],
  { lake }: Pick<ProjectPaths, 'lake'>,
): readonly NeededExtension[] => [
  ...(lake === undefined
    ? []
    : extensionsOfLake(lake).map((name) => ({ name, neededBy: 'lake of the target' }))),
  ...settings['extensions.load'].map((name) => ({ name, neededBy: 'extensions of eider.yml' })),
  ...sources.flatMap((source) =>
    extensionsOfSource(source).map((name) => ({ name, neededBy: `source ${source.name}` })),
  ),
]
