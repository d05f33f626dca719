// The files of a project: which of them are models, seeds and macros, and their text.

import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { limits } from '../core/limits.ts'
import { type ModelName, foldCase, parseModelName } from '../core/names.ts'
import type { ModelFile, ProjectFiles, SeedFile } from '../core/project.ts'
import type { SourceFile } from '../core/source.ts'
import { parseSeedTypes, type SeedTypes } from './seed-types.ts'

/** Schemas that belong to the engine, and the one in which eider keeps its own tables. */
const RESERVED_SCHEMAS = ['_eider', 'information_schema', 'memory', 'pg_catalog', 'system', 'temp']

const SEED_FORMATS: Readonly<Record<string, SeedFile['format']>> = {
  csv: 'csv',
  tsv: 'csv',
  json: 'json',
  jsonl: 'json',
  ndjson: 'json',
  parquet: 'parquet',
}

/**
 * Reads models/, seeds/ and macros/ of the project in `dir`. Files that cannot be read or placed are among `problems`.
 * Names that begin with a dot and texts about the data (*.md) are passed over. `database` is the path of the warehouse.
 */
export async function readProjectFiles(dir: string, database: string): Promise<ProjectFiles> {
  const problems: Diagnostic[] = []
  const understood = <T extends object>(items: readonly (T | Diagnostic)[]): readonly T[] =>
    items.filter((item): item is T => {
      if (isDiagnostic(item)) problems.push(item)
      return !isDiagnostic(item)
    })
  const reserved = new Set([...RESERVED_SCHEMAS, catalogOf(database)])
  const pathsOf = async (top: string) => {
    try {
      return await pathsBelow(dir, top)
    } catch (error) {
      const problem = (error as Error).message
      problems.push(diagnostic('unreadable-file', { problem }, wholeFile(top)))
      return []
    }
  }
  const readAll = (paths: readonly string[]) =>
    understood(paths.filter(isSql).map((path) => readSource(dir, path, limits.modelFileBytes)))
  const modelPaths = await pathsOf('models')
  const sources = readAll(modelPaths)
  const readable = new Set(sources.map(({ path }) => path))
  const unreadable = modelPaths.filter(isSql).flatMap((path): readonly ModelFile[] => {
    const placed = readable.has(path) ? null : place(path, ['sql'], reserved)
    if (placed === null || isDiagnostic(placed)) return []
    return [{ name: placed.name, source: { path, text: '' } }]
  })
  const models = sources.map((source): ModelFile | Diagnostic => {
    const placed = place(source.path, ['sql'], reserved)
    return isDiagnostic(placed) ? placed : { name: placed.name, source }
  })
  const seedPaths = await pathsOf('seeds')
  const seedTypes = new Map<string, SeedTypes>()
  for (const path of seedPaths.filter(isYaml)) {
    const source = readSource(dir, path, limits.configFileBytes)
    if (isDiagnostic(source)) problems.push(source)
    else seedTypes.set(withoutExtension(path), parseSeedTypes(source))
    const isAlone = !seedPaths.some(
      (other) => !isYaml(other) && withoutExtension(other) === withoutExtension(path),
    )
    const expected = 'a data file of the same name beside this one'
    if (isAlone) problems.push(diagnostic('invalid-model-path', { expected }, wholeFile(path)))
  }
  problems.push(...Array.from(seedTypes.values(), ({ diagnostics }) => diagnostics).flat())
  const dataPaths = seedPaths.filter((path) => !isYaml(path))
  const seeds = dataPaths.map((path): SeedFile | Diagnostic => {
    const placed = place(path, Object.keys(SEED_FORMATS), reserved)
    if (isDiagnostic(placed)) return placed
    const types = seedTypes.get(withoutExtension(path))?.types ?? []
    return { name: placed.name, path, format: SEED_FORMATS[placed.extension]!, types }
  })
  const macros = readAll(await pathsOf('macros'))
  return { models: understood(models), unreadable, seeds: understood(seeds), macros, problems }
}

/** The name that a path `<top>/<schema>/<name>.<extension>` gives. */
function place(
  path: string,
  extensions: readonly string[],
  reserved: ReadonlySet<string>,
): { readonly name: ModelName; readonly extension: string } | Diagnostic {
  const [top, schema = '', file = '', ...more] = path.split('/')
  const dot = file.lastIndexOf('.')
  const extension = file.slice(dot + 1).toLowerCase()
  const name = parseModelName(`${schema}.${file.slice(0, dot)}`)
  const invalid = (expected: string) =>
    diagnostic('invalid-model-path', { expected }, wholeFile(path))
  if (reserved.has(foldCase(schema))) return invalid(`another schema; "${schema}" is taken`)
  if (more.length > 0 || dot < 1 || !extensions.includes(extension))
    return invalid(`${top}/<schema>/<name>.${extensions.join(', .')}`)
  return name === null ? invalid('names without dots and control characters') : { name, extension }
}

/** Paths of files below `dir/top`, relative to `dir`, sorted. Symbolic links are followed. */
async function pathsBelow(dir: string, top: string, depth = 0): Promise<readonly string[]> {
  const folder = join(dir, top)
  const missing = (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && depth === 0) return []
    throw error
  }
  const entries = await readdir(folder, { withFileTypes: true }).catch(missing)
  const paths: string[] = []
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || /\.md$/i.test(entry.name)) continue
    const path = `${top}/${entry.name}`
    // A link that leads nowhere is a file that cannot be read.
    const target = entry.isSymbolicLink() ? await stat(join(dir, path)).catch(() => entry) : entry
    if (!target.isDirectory()) paths.push(path)
    else if (depth < limits.folderDepth) paths.push(...(await pathsBelow(dir, path, depth + 1)))
  }
  return paths
}

/**
 * Text of a file without a byte order mark. Read at once: a thousand small files take four times as long when each of
 * their reads waits for its turn in the thread pool.
 */
export function readSource(dir: string, path: string, limitBytes: number): SourceFile | Diagnostic {
  const unreadable = (problem: string) =>
    diagnostic('unreadable-file', { problem }, wholeFile(path))
  let bytes: Buffer
  try {
    bytes = readFileSync(join(dir, path))
  } catch (error) {
    return unreadable((error as Error).message)
  }
  if (bytes.length > limitBytes) return unreadable(`it has more than ${limitBytes} bytes`)
  if (bytes.includes(0)) return unreadable('it has a NUL byte')
  if (!isUtf8(bytes)) return unreadable('it is not UTF-8')
  return { path, text: bytes.toString('utf8').replace(/^\uFEFF/, '') }
}

/** The engine calls a database by its file's name up to the first dot; a schema of that name would be ambiguous. */
/** The engine's name of a database file, in lower case. */
export const catalogOf = (database: string) => foldCase(basename(database).split('.')[0]!)

const isYaml = (path: string) => /\.ya?ml$/i.test(path)
const withoutExtension = (path: string) => path.slice(0, path.lastIndexOf('.'))
const isSql = (path: string) => /\.sql$/i.test(path)
const isDiagnostic = (item: object): item is Diagnostic => 'code' in item
const wholeFile = (path: string) => ({ source: { path, text: '' }, span: { start: 0, end: 0 } })
