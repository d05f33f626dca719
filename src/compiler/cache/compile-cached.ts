// Nothing is compiled twice: binding a thousand models takes longer than everything else that a run without work does.
// `.eider/compiled.json` holds the last compile, in four lines of JSON:
//
//   | line    | content                                                                                          |
//   |---------|--------------------------------------------------------------------------------------------------|
//   | 1       | `base`, `key`: of what was compiled, by what; `inputs`: data files with hashes; `checksum`: of the rest |
//   | 2, 3, 4 | the project (saved-project.ts)                                                                   |
//
// It is the compile of the given files if and only if `key` is theirs, each input has the hash that it has in the file, and
// the checksum is that of the other lines. The key covers every text, path and variable, the directory, the versions of
// DuckDB and of the extensions that models need, and the compiler's own files. Inputs are hashed before their heads are
// read, so a file that changes meanwhile is found changed.
//
// Where only `base` is theirs, which covers what concerns all models, the models are kept whose own files and data files
// are as they were, and whose names mean what they meant; the others are compiled. Where one of these has other columns
// than before, all that read it are compiled too, directly or through others. With a mistake in any, everything is
// compiled, so that what is said of it is the same.
//
// Not saved: a project with mistakes outside its files, and one with a model that does not compile if what it waits for may
// lie outside too (failing-texts.ts). A volatile model whose columns may depend on a setting, a remote file or the like is always compiled.

import { reach, readersOf } from '../graph.ts'
import { withRollups } from '../measures/rollups.ts'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readTextLater } from '../../files/read-file.ts'
import { hasErrors } from '../../core/diagnostics.ts'
import { hashOf } from '../../core/hash.ts'
import type { Extensions } from '../../core/extensions.ts'
import { limits } from '../../core/limits.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import type { ProjectFiles } from '../../core/project.ts'
import { Resources } from '../../core/resources.ts'
import type { Sql } from '../../core/sql.ts'
import type { SourceFile } from '../../core/source-text.ts'
import { replaceIfPossible } from '../../files/durable-files.ts'
import { buildStamp } from '../../files/package.ts'
import { literalOf } from '../../core/variables.ts'
import type { Connection } from '../../duckdb/database.ts'
import { bindingsVersion } from '../../duckdb/bindings-version.ts'
import {
  hasUnsureColumns,
  type RestoredUnits,
  restoreProject,
  restoreUnits,
  saveProject,
} from './saved-project.ts'
import { failsByTexts } from './failing-texts.ts'
import type { CompiledUnits, KeptModels } from '../bind/draft.ts'
import type { Column } from '../../core/relation.ts'

interface Heading {
  readonly base: string
  /** null: the columns of a model may differ the next time. */
  readonly key: string | null
  /** Names of files or patterns, each with its hash. */
  readonly inputs: readonly (readonly [string, string])[]
  readonly checksum: string
}

export interface CachedOptions {
  readonly dir: string
  /** Directory of the saved compile: `.eider`, or that of the target. */
  readonly state: string
  /** Whether a compile that had to be made is saved. A command that promises to change nothing does not. */
  readonly save: boolean
  /** Hashes of files that are known without reading them. */
  readonly known?: ReadonlyMap<string, string> | undefined
  /** Waited for before models are compiled, where an earlier compile may spare most of them. */
  readonly onChanged?: (() => Promise<void>) | undefined
}

/** Does what compileAll() does, for a project without sources. */
export async function compileCached(
  asRead: ProjectFiles,
  { dir, state, save, known, onChanged }: CachedOptions,
): Promise<CompiledProject> {
  const files = withRollups(asRead)
  const path = join(state, 'compiled.json')
  const keys = await keysOf(files, dir)
  const saved = await readSaved(path, keys.base)
  const isSame = saved !== null && saved.heading.key === keys.key
  const changedInputs = isSame ? await changedAmong(saved.heading, { dir, known }) : []
  if (isSame && changedInputs.length === 0)
    return { ...restoreProject(saved.text, files), ...identityOf(saved.heading) }
  if (saved !== null) await onChanged?.()
  const { hashes } = keys
  const changing = { dir, hashes, save, changedInputs }
  const { compiled, inputs } = await compileChanged(files, saved, changing)
  const { project } = compiled
  const isWhole = inputs !== null && failsByTexts(project, files)
  const text = save && isWhole ? saveProject(compiled, files, hashes) : null
  if (text === null) return project
  const isUnsure = [...project.models.values()].some(hasUnsureColumns)
  const key = isUnsure ? null : keys.key
  const heading = { base: keys.base, key, inputs: inputs ?? [], checksum: hashOf(32, [text]) }
  const line = JSON.stringify(heading)
  // The checksum detects a truncated file. Where it cannot be written the next run compiles again, as this one did.
  if (saved === null || line !== JSON.stringify(saved.heading))
    await replaceIfPossible(path, `${line}\n${text}\n`)
  return { ...project, ...identityOf(heading) }
}

interface ChangedOptions {
  readonly dir: string
  readonly hashes: Keys['hashes']
  readonly save: boolean
  /** Of the saved compile, those that are known to be different now. */
  readonly changedInputs: readonly string[]
}

/** Does what compileUnits() does, with the data files that models name. */
async function compileChanged(
  files: ProjectFiles,
  saved: Saved | null,
  { dir, hashes, save, changedInputs }: ChangedOptions,
): Promise<{ readonly compiled: CompiledUnits; readonly inputs: Heading['inputs'] | null }> {
  const { compileUnits } = await import('../compile.ts')
  const isKept = saved !== null && !hasErrors(files.problems ?? [])
  const before = isKept ? restoreUnits(saved.text, files, hashes) : NOTHING
  const isRead = (name: string) => changedInputs.includes(name)
  let kept = without(before.kept, ({ files }) => files.some(isRead))
  for (;;) {
    let inputs: Heading['inputs'] | null = null
    const onInputs = async (connection: Connection, names: readonly string[]) => {
      inputs = await readInputs(connection, dir, names)
    }
    const hashesInputs = save || kept.size > 0
    const compiled = await compileUnits(files, hashesInputs ? { dir, kept, onInputs } : { dir })
    if (kept.size === 0) return { compiled, inputs }
    const stale =
      compiled.project.errors.length > 0
        ? kept
        : staleAmong(kept, compiled, {
            columns: before.columns,
            givers: before.givers,
            inputs: [saved?.heading.inputs ?? [], inputs ?? []],
          })
    if (stale.size === 0) return { compiled, inputs }
    kept = without(kept, ({ name }) => stale.has(name))
  }
}

const without = (kept: KeptModels, isOut: (model: Model) => boolean): KeptModels =>
  new Map([...kept].filter(([, { model }]) => !isOut(model)))

const NOTHING: RestoredUnits = { kept: new Map(), columns: new Map(), givers: new Map() }

/** The key alone does not cover what was read from data files. */
const identityOf = ({ key, checksum }: Heading) =>
  key === null ? {} : { identity: hashOf(32, [key, checksum]) }

interface Saved {
  readonly heading: Heading
  readonly text: string
}

/** null: there is none, or it is that of another program, directory or target. */
async function readSaved(path: string, base: string): Promise<Saved | null> {
  const saved = await readTextLater(path).catch(() => null)
  const end = saved?.indexOf('\n') ?? -1
  if (saved === null || end < 0) return null
  const heading = readHeading(saved.slice(0, end))
  const text = saved.slice(end + 1, -1)
  if (heading?.base !== base || heading.checksum !== hashOf(32, [text])) return null
  return { heading, text }
}

function readHeading(line: string): Heading | null {
  try {
    return JSON.parse(line) as Heading
  } catch {
    return null
  }
}

/** The data files and patterns that are not as they were. */
async function changedAmong(
  { inputs }: Heading,
  { dir, known }: Pick<CachedOptions, 'dir' | 'known'>,
): Promise<readonly string[]> {
  if (inputs.every(([name, hash]) => known?.get(name) === hash)) return []
  const { hashFiles } = await import('../file-hashes.ts')
  await using resources = new Resources()
  const open = async () => {
    const { Database } = await import('../../duckdb/database.ts')
    const engine = await Database.open({ path: ':memory:', searchDir: dir, threads: 1 })
    return resources.use(await resources.use(engine).connect())
  }
  let opened: Promise<Connection> | null = null
  const patterns = { rows: async (statement: Sql) => (await (opened ??= open())).rows(statement) }
  const now = await hashFiles(patterns, dir, [{ files: inputs.map(([name]) => name) }])
  return inputs.flatMap(([name, hash]) => (now.get(name) === hash ? [] : [name]))
}

/** null when the contents of one are unknown or take too long to read. */
async function readInputs(
  connection: Connection,
  dir: string,
  names: readonly string[],
): Promise<Heading['inputs'] | null> {
  const { filesOf, hashFiles } = await import('../file-hashes.ts')
  let sizeBytes = 0
  for (const name of new Set(names)) {
    for (const file of await filesOf(connection, dir, name)) {
      const found = await stat(file).catch(() => null)
      if (found?.isFile() !== true) return null
      sizeBytes += found.size
    }
  }
  if (sizeBytes > limits.comparedInputBytes) return null
  const hashes = await hashFiles(connection, dir, [{ files: names }])
  return [...hashes].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

interface Keys {
  readonly base: string
  /** Identifies all that is compiled, except data files. */
  readonly key: string
  readonly hashes: ReadonlyMap<ModelName, string>
}

async function versionsOf(extensions: Extensions) {
  if (extensions.names.length === 0) return []
  const { extensionVersions } = await import('../../duckdb/extension-files.ts')
  return extensionVersions(extensions)
}

/** What is compiled, and what compiles it. */
async function keysOf(files: ProjectFiles, dir: string): Promise<Keys> {
  const { models, seeds, macros, checks = [], problems = [], extensions, hasStoredTypes } = files
  const variables = Array.from(files.variables ?? [], ([name, value]) => [
    name,
    value.is,
    literalOf(value).inline(),
  ])
  // Few texts name a variable; the others stay as they are when one gets another value.
  const part = (value: unknown) => {
    const text = JSON.stringify(value)
    return hashOf(32, text.includes('${') ? [text, variables] : [text])
  }
  const texts = (all: readonly SourceFile[]) => part(all.map(({ path, text }) => [path, text]))
  const base = hashOf(32, [
    [bindingsVersion(), process.versions.node, buildStamp()],
    extensions === undefined ? [] : await versionsOf(extensions),
    dir,
    hasStoredTypes === true ? 'storedType' : '',
    texts(macros),
  ])
  const hashes = [
    ...models.map(({ name, source }) => [name, part([source.path, source.text])] as const),
    ...seeds.map(
      ({ name, path, format, types, checks: own = [] }) =>
        [name, part([path, format, types, own])] as const,
    ),
  ]
  const unreadable = (files.unreadable ?? []).map(({ name }) => name)
  const key = hashOf(32, [base, hashes, variables, texts(checks), problems, unreadable])
  return { base, key, hashes: new Map(hashes) }
}

/** The compile from which the models were kept, and the one that they take part in. */
interface Before {
  readonly columns: RestoredUnits['columns']
  readonly givers: RestoredUnits['givers']
  /** Data files with hashes: then, and now. */
  readonly inputs: readonly [readonly Input[], readonly Input[]]
}

type Input = readonly [name: string, hash: string]

/** Those that cannot be kept, and, where it has none, nothing else: a data file or columns that they read have changed. */
function staleAmong(
  kept: KeptModels,
  { units, standIns }: Pick<CompiledUnits, 'units' | 'standIns'>,
  { columns, givers, inputs }: Before,
): ReadonlySet<ModelName> {
  const [then, now] = [new Map(inputs[0]), new Map(inputs[1])]
  const isChanged = (name: string) => !then.has(name) || then.get(name) !== now.get(name)
  const others = Array.from(units, ([name, { model }]) => {
    const relation = kept.has(name) ? standIns.get(name) : model.columns
    const isSame =
      relation === undefined ||
      (isSameRelation(relation, columns.get(name) ?? []) &&
        JSON.stringify(model.givers) === JSON.stringify(givers.get(name)))
    return isSame ? [] : [name]
  }).flat()
  const stale = reach(others, readersOf(Array.from(kept.values(), ({ model }) => model)))
  for (const name of others) if (kept.has(name)) stale.add(name)
  for (const [name, { model }] of kept) if (model.files.some(isChanged)) stale.add(name)
  return stale
}

/** Whether those who read a relation see the same of another. */
const isSameRelation = (one: readonly Column[], other: readonly Column[]): boolean =>
  one.length === other.length &&
  one.every(({ name, type }, i) => name === other[i]!.name && type === other[i]!.type)
