// A project directory as a Project: settings from five places, files read, paths made absolute.

import { statSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { diagnostic, DiagnosticsError, throwIfErrors } from '../core/diagnostics.ts'
import type { ExternalSource } from '../core/sources.ts'
import { UsageError } from '../core/failures.ts'
import { holdsPassword } from './urls.ts'
import { limits } from '../core/limits.ts'
import type { ProjectPaths } from '../core/project.ts'
import { foldCase } from '../core/names.ts'
import { didYouMean } from '../core/suggest.ts'
import { type Config, parseConfig, type WrittenValue, type WrittenValues } from './config.ts'
import { readDotEnv, suspectVariables } from './dot-env.ts'
import { readExtensionLock } from './extension-lock.ts'
import { extensionsOf } from './extensions.ts'
import { catalogOf, readProjectFiles } from './files.ts'
import { lakeSettings } from './lake-settings.ts'
import { readSource, type UnsavedTexts } from './read-text.ts'
import type { Project, UnusableValue } from './project.ts'
import {
  type SettingName,
  type SettingType,
  type SettingValues,
  type Settings,
  settings,
} from './settings.ts'
import { type Environment, type Environments, isReference } from './environment-values.ts'
import {
  type SettingValue,
  acceptValue,
  describeType,
  parseValue,
  valueOfReference,
} from './values.ts'
import { variablesInForce } from './variables.ts'

const CONFIG_FILE = 'eider.yml'

export interface LoadOptions {
  readonly env: Environment
  /** Settings given on the command line. */
  readonly flags: Partial<Record<SettingName, string | number | boolean>>
  /** Name of a target of eider.yml; null: none; that of EIDER_TARGET, or none, when not given. */
  readonly target?: string | null | undefined
  /** Values of variables given on the command line, each as `name=value`. */
  readonly vars?: readonly string[] | undefined
  readonly unsaved?: UnsavedTexts
}

/** The nearest directory from `from` upward that has an eider.yml; null when there is none. */
export async function findProjectDir(from: string): Promise<string | null> {
  for (let dir = resolve(from); ; dir = dirname(dir)) {
    if (await exists(join(dir, CONFIG_FILE))) return dir
    if (dir === dirname(dir)) return null
  }
}

async function noProject(dir: string): Promise<UsageError> {
  const found = statSync(dir, { throwIfNoEntry: false })
  if (found === undefined)
    return new UsageError(`there is no directory ${dir}`, {
      hint: 'start a project with "eider init NAME"',
    })
  if (found.isFile())
    return new UsageError(`${dir} is a file`, {
      hint: `--project takes the directory that holds ${CONFIG_FILE}`,
    })
  const above = await findProjectDir(dir)
  return new UsageError(`there is no ${CONFIG_FILE} in ${dir}`, {
    hint:
      otherSpelling(dir) ??
      (above === null ? 'start a project with "eider init NAME"' : `write --project ${above}`),
  })
}

/** Hint for a directory that has the file under another name. */
export function otherSpelling(dir: string): string | undefined {
  const isThere = (name: string) =>
    statSync(join(dir, name), { throwIfNoEntry: false })?.isFile() === true
  const found = ['eider.yaml', 'Eider.yml', '.eider.yml', 'eider.yml.txt'].find(isThere)
  return found === undefined ? undefined : `eider reads ${CONFIG_FILE}: mv ${found} ${CONFIG_FILE}`
}

/**
 * Reads the project in `dir`. A setting comes from the first that has it: flag, environment, .env, eider.yml, default.
 * Throws DiagnosticsError for mistakes in eider.yml and .env, UsageError for values from elsewhere and when there is no
 * eider.yml. Mistakes in other files are in `files.problems`, for the compiler to report with its own.
 */
export async function loadProject(dir: string, options: LoadOptions): Promise<Project> {
  const { env, flags } = options
  const root = resolve(dir)
  if (!(await exists(join(root, CONFIG_FILE)))) throw await noProject(root)
  const source = readSource(root, CONFIG_FILE, limits.configFileBytes, options.unsaved)
  if ('code' in source) throw new DiagnosticsError([source])
  const config = parseConfig(source)
  const { name, values, targets, diagnostics } = config
  if (diagnostics.length > 0) throw new DiagnosticsError(diagnostics)
  const declared = [...config.variables.keys()]
  const { values: dotEnv, warnings } = await readDotEnv(root, declared)
  const target = targetInForce(options, dotEnv)
  const ofTarget = target === null ? null : settingsOfTarget(target, targets)
  const unusable: UnusableValue[] = []
  const found = Object.entries(settings).map(([key, setting]) => {
    const flag = flags[key as SettingName]
    if (flag !== undefined) return [key, fromFlag(key, setting.type, flag)]
    const variable = 'env' in setting ? setting.env : null
    const given = variable === null ? null : valueOf(variable, setting.type, env, dotEnv)
    if (given instanceof UsageError && !('isShared' in setting)) throw given
    if (given instanceof UsageError)
      unusable.push({ setting: key as SettingName, problem: given.message })
    const fromEnv = given instanceof UsageError ? null : given
    const written = fromEnv ?? ofTarget?.get(key) ?? values.get(key) ?? setting.default
    return [key, inForceOf(written, setting.type, [env, dotEnv])]
  })
  const effective = withAdminPort(Object.fromEntries(found) as SettingValues)
  const ownDatabase = ofTarget?.get('database') ?? null
  const paths = {
    ...projectPathsOf(root, effective.database, target, ownDatabase === null),
    ...(isLake(ofTarget ?? values) ? { lake: lakeSettings(name, root, effective) } : {}),
  }
  const files = await readProjectFiles(root, paths.database, options.unsaved)
  const others = suspectVariables(env, declared, source)
  const problems = [...warnings, ...others, ...(files.problems ?? [])]
  const sources = config.sources([env, dotEnv])
  refuseWarehouse(sources, root, paths.database)
  const variables = variablesInForce({
    declared: config.variables,
    target: config.targetVariables.get(target ?? ''),
    environments: [env, dotEnv],
    flags: options.vars ?? [],
  })
  return {
    name,
    target,
    targets: [...targets.keys()],
    settings: effective,
    unusable,
    paths,
    schedule: config.schedule,
    notify: config.notify,
    readers: config.readers,
    senders: config.senders,
    signedSenders: config.signedSenders,
    secrets: [env, dotEnv],
    files: {
      ...files,
      problems,
      variables,
      sources,
      extensions: extensionsOf(root, effective, await readExtensionLock(root)),
      hasStoredTypes: paths.lake !== undefined,
    },
  }
}

const targetInForce = (
  { env, target }: Pick<LoadOptions, 'env' | 'target'>,
  dotEnv: Environment,
) => (target === null ? null : target || env['EIDER_TARGET'] || dotEnv['EIDER_TARGET'] || null)

/** Where the state of the project in `dir` is, which nothing in eider.yml decides: it may have mistakes. */
export async function stateDirOf(
  dir: string,
  options: Pick<LoadOptions, 'env' | 'target'>,
): Promise<string> {
  const root = resolve(dir)
  const { values } = await readDotEnv(root, []).catch(() => ({ values: {} }))
  return stateDirIn(root, targetInForce(options, values))
}

/**
 * A source must not be the warehouse, nor have its catalog name. DuckDB has one lock per file, which would
 * be released as soon as either of the two closed it.
 */
function refuseWarehouse(sources: readonly ExternalSource[], root: string, database: string): void {
  const found = sources.flatMap(({ name, location: own, server, source, span }) => {
    const refused = (key: string, expected: string) =>
      diagnostic('config-invalid-value', { key, expected }, { source, span })
    if (foldCase(name) === catalogOf(database))
      return refused(`sources.${name}`, 'a name other than that of the warehouse file')
    if (own === null || server !== null || !isSameFile(resolve(root, own), database)) return []
    const expected = 'a database other than the warehouse, whose tables are models'
    return refused(`sources.${name}.database`, expected)
  })
  throwIfErrors(found)
}

function isSameFile(a: string, b: string): boolean {
  if (a === b) return true
  const [one, other] = [a, b].map((path) => statSync(path, { throwIfNoEntry: false }))
  return one !== undefined && other !== undefined && one.dev === other.dev && one.ino === other.ino
}

function settingsOfTarget(target: string, targets: Config['targets']): WrittenValues {
  const found = targets.get(target)
  if (found !== undefined) return found
  const known = [...targets.keys()].join(', ')
  throw new UsageError(`eider.yml has no target "${target}"`, {
    hint:
      didYouMean(target, targets.keys()) ??
      (known === '' ? 'add one under "targets"' : `the targets are ${known}`),
  })
}

function inForceOf(
  written: WrittenValue | null,
  type: SettingType,
  environments: Environments,
): SettingValue | null {
  if (typeof written !== 'object' || written === null || !('reference' in written)) return written
  return valueOfReference(type, written.reference, environments)
}

function fromFlag(key: string, type: SettingType, flag: string | number | boolean): SettingValue {
  const value = typeof flag === 'string' ? parseValue(type, flag) : acceptValue(type, flag)
  const name = key.slice(key.lastIndexOf('.') + 1).replaceAll('_', '-')
  if (typeof flag === 'string' && isReference(flag))
    throw new UsageError(`--${name} is ${flag}, which nothing replaces by its value`, {
      hint: `write --${name} "$NAME" in double quotes, so that the shell replaces it`,
    })
  if (value !== null) return value
  throw new UsageError(`--${name} must be ${describeType(type)}, not "${flag}"`, {
    hint: `it sets ${key}, see docs/configuration.md`,
  })
}

/** A variable that is set to nothing counts as not set. An error is returned: whether it stops anything depends on the setting. */
function valueOf(
  variable: string,
  type: SettingType,
  env: Environment,
  dotEnv: Environment,
): SettingValue | UsageError | null {
  const text = env[variable] || dotEnv[variable]
  if (!text) return null
  const value = isReference(text) ? null : parseValue(type, text)
  if (value !== null) return value
  const place = env[variable] ? `the variable ${variable}` : `${variable} in .env`
  if (isReference(text))
    return new UsageError(`${place} holds ${text}, which nothing replaces by its value`, {
      hint: 'write the value itself; in eider.yml ${NAME} stands for a variable',
    })
  const isSecret = ['catalog', 'secret', 'web', 'bearer'].includes(type.is) || holdsPassword(text)
  const shown = isSecret ? '' : `, not "${text}"`
  return new UsageError(`${place} must be ${describeType(type)}${shown}`)
}

/** The admin port is the one after the public one unless it is set. Port 0 lets the system choose, for both. */
function withAdminPort(found: SettingValues): Settings {
  const port = found['collect.port']
  const adminPort = found['collect.admin_port'] ?? (port === 0 ? 0 : port + 1)
  if (adminPort > 65_535)
    throw new UsageError('collect.port 65535 leaves no port for the flush API', {
      hint: 'set collect.admin_port (COLLECT_ADMIN_PORT), or choose another collect.port',
    })
  if (adminPort === port && port !== 0)
    throw new UsageError(`collect.port and collect.admin_port are both ${port}`, {
      hint: 'the public port and the flush API need different ports',
    })
  return { ...found, 'collect.admin_port': adminPort }
}

/** Only eider.yml makes a target a lake: a variable that is meant for another one must not. */
const isLake = (values: WrittenValues): boolean =>
  [...values.keys()].some((key) => key.startsWith('lake.'))

const stateDirIn = (root: string, target: string | null): string =>
  target === null ? join(root, '.eider') : join(root, '.eider', 'targets', target)

/**
 * A target has separate state: a database without the events that were flushed into it, or a snapshot of another
 * database, would be inconsistent.
 */
export function projectPathsOf(
  dir: string,
  database: string,
  target: string | null,
  hasNoDatabase: boolean,
): ProjectPaths {
  const state = stateDirIn(dir, target)
  return {
    dir,
    database:
      target !== null && hasNoDatabase ? join(state, 'warehouse.duckdb') : resolve(dir, database),
    state,
    buffer: join(state, 'buffer'),
    snapshots: join(state, 'snapshots'),
    runLock: join(state, 'run.lock'),
    collectLock: join(state, 'collect.lock'),
    target: target === null ? join(dir, 'target') : join(dir, 'target', target),
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
