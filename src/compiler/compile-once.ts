// An unchanged project is not compiled again: binding a thousand models takes longer than everything else that a
// run without work does. `.eider/compiled.json` holds the last compile that a run made, in three lines of JSON:
//
//   | line | content                                                                                          |
//   |------|--------------------------------------------------------------------------------------------------|
//   | 1    | `key`: of what was compiled, by what; `inputs`: data files with hashes; `checksum`: of the rest  |
//   | 2, 3 | the project (saved-project.ts)                                                                   |
//
// It is valid if and only if `key` is that of the given files, each input has the hash that it has in the file, and the
// checksum is that of the other lines. The key covers every text, path and variable, the directory, the versions of DuckDB
// and of the extensions that models need, and the compiler's own files. Inputs are hashed before their heads are read, so a file that changes meanwhile is found
// changed. Not saved: a project with sources or with mistakes outside its files, one with a model that does not compile,
// since what it waits for may lie outside too, and one with a volatile model, whose columns may depend on the time, a
// setting or a remote file. Of a project with sources `.eider/sources.json` has the
// columns of their tables, for when one of them is away.

import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hashOf } from '../core/hash.ts'
import type { CompiledExternal } from '../core/external.ts'
import type { Extensions } from '../core/extensions.ts'
import { limits } from '../core/limits.ts'
import type { CompiledProject } from '../core/model.ts'
import type { ProjectFiles } from '../core/project.ts'
import { buildStamp } from '../files/package.ts'
import { literalOf } from '../core/variables.ts'
import type { Connection } from '../duckdb/database.ts'
import { bindingsVersion } from '../duckdb/bindings-version.ts'
import { restoreProject, saveProject } from './saved-project.ts'

interface Heading {
  readonly key: string
  /** Names of files or patterns, each with its hash. */
  readonly inputs: readonly (readonly [string, string])[]
  readonly checksum: string
}

export interface CompileOnceOptions {
  /** The project directory, absolute. */
  readonly dir: string
  /** Directory of the saved compile: `.eider`, or that of the target. */
  readonly state: string
  /** Whether a compile that had to be made is saved. A command that promises to change nothing does not. */
  readonly save: boolean
  /** Hashes of files that are known without reading them. */
  readonly known?: ReadonlyMap<string, string> | undefined
}

/** As compileAll(). */
export async function compileOnce(
  files: ProjectFiles,
  { dir, state, save, known }: CompileOnceOptions,
): Promise<CompiledProject> {
  // Sources are always read again.
  if ((files.sources ?? []).length > 0) return compileWithSources(files, { dir, state, save })
  const path = join(state, 'compiled.json')
  const key = await keyOf(files, dir)
  const restored = await restore(path, key, files, { dir, known })
  if (restored !== null) return restored
  const { compileAll } = await import('./compile.ts')
  let inputs: Heading['inputs'] | null = null
  const onInputs = async (connection: Connection, names: readonly string[]) => {
    inputs = await readInputs(connection, dir, names)
  }
  const project = await compileAll(files, save ? { dir, onInputs } : { dir })
  const isVolatile = [...project.models.values()].some((model) => model.volatile)
  const isWhole = inputs !== null && project.failed.size === 0
  const text = !isWhole || isVolatile ? null : saveProject(project, files)
  if (text === null) return project
  const heading = { key, inputs: inputs ?? [], checksum: hashOf(32, [text]) }
  await replace(path, `${JSON.stringify(heading)}\n${text}\n`)
  return { ...project, identity: identityOf(heading) }
}

/** The columns of the last run stand for those of a source that is away. */
async function compileWithSources(
  files: ProjectFiles,
  { dir, state, save }: CompileOnceOptions,
): Promise<CompiledProject> {
  const { compileAll } = await import('./compile.ts')
  const path = join(state, 'sources.json')
  const knownTables = await readKnownTables(path)
  const project = await compileAll(files, { dir, knownTables })
  const tables = project.external?.tables ?? []
  if (save && JSON.stringify(tables) !== JSON.stringify(knownTables))
    await replace(path, JSON.stringify(tables))
  return project
}

async function readKnownTables(path: string): Promise<readonly CompiledExternal[]> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as readonly CompiledExternal[]
  } catch {
    return [] // no run yet, or one was cut short
  }
}

/** The key alone does not cover what was read from data files. */
const identityOf = ({ key, checksum }: Heading) => hashOf(32, [key, checksum])

/** null: there is none, or it belongs to another state of the project. */
async function restore(
  path: string,
  key: string,
  files: ProjectFiles,
  place: Pick<CompileOnceOptions, 'dir' | 'known'>,
): Promise<CompiledProject | null> {
  const saved = await readFile(path, 'utf8').catch(() => null)
  const end = saved?.indexOf('\n') ?? -1
  if (saved === null || end < 0) return null
  const heading = readHeading(saved.slice(0, end))
  const text = saved.slice(end + 1, -1)
  if (heading?.key !== key || heading.checksum !== hashOf(32, [text])) return null
  if (!(await isUnchanged(heading, place))) return null
  return { ...restoreProject(text, files), identity: identityOf(heading) }
}

function readHeading(line: string): Heading | null {
  try {
    return JSON.parse(line) as Heading
  } catch {
    return null
  }
}

async function isUnchanged(
  { inputs }: Heading,
  { dir, known }: Pick<CompileOnceOptions, 'dir' | 'known'>,
): Promise<boolean> {
  if (inputs.every(([name, hash]) => known?.get(name) === hash)) return true
  const [{ Database }, { hashFiles }] = await Promise.all([
    import('../duckdb/database.ts'),
    import('./file-hashes.ts'),
  ])
  await using database = await Database.open({ path: ':memory:', searchDir: dir, threads: 1 })
  await using connection = await database.connect()
  const now = await hashFiles(connection, dir, [{ files: inputs.map(([name]) => name) }])
  return inputs.every(([name, hash]) => now.get(name) === hash)
}

/** null when the contents of one are unknown or take too long to read. */
async function readInputs(
  connection: Connection,
  dir: string,
  names: readonly string[],
): Promise<Heading['inputs'] | null> {
  const { filesOf, hashFiles } = await import('./file-hashes.ts')
  let sizeBytes = 0
  for (const name of new Set(names)) {
    for (const file of await filesOf(connection, dir, name)) {
      const found = await stat(file).catch(() => null)
      if (found?.isFile() !== true) return null
      sizeBytes += found.size
    }
  }
  if (sizeBytes > limits.comparedInputBytes) return null
  return [...(await hashFiles(connection, dir, [{ files: names }]))]
}

async function versionsOf(extensions: Extensions) {
  if (extensions.names.length === 0) return []
  const { extensionVersions } = await import('../duckdb/extension-files.ts')
  return extensionVersions(extensions)
}

/** What is compiled, and what compiles it. */
async function keyOf(
  {
    models,
    seeds,
    macros,
    checks,
    variables,
    problems,
    unreadable,
    extensions,
    target,
  }: ProjectFiles,
  dir: string,
): Promise<string> {
  return hashOf(32, [
    [bindingsVersion(), process.versions.node, buildStamp()],
    extensions === undefined ? [] : await versionsOf(extensions),
    dir,
    models.map(({ name, source }) => [name, source.path, source.text]),
    seeds.map((seed) => [seed.name, seed.path, seed.format, seed.types, seed.checks ?? []]),
    macros.map(({ path, text }) => [path, text]),
    (checks ?? []).map(({ path, text }) => [path, text]),
    Array.from(variables ?? [], ([name, value]) => [name, value.is, literalOf(value).inline()]),
    problems ?? [],
    target ?? '',
    (unreadable ?? []).map(({ name }) => name),
  ])
}

/** The checksum detects a truncated file. Where it cannot be written the next run compiles again, as this one did. */
async function replace(path: string, text: string): Promise<void> {
  const next = `${path}.${process.pid}.tmp`
  try {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(next, text)
    await rename(next, path)
  } catch {
    await rm(next, { force: true }).catch(() => {})
  }
}
