// The files of a project: which of them are models, seeds and macros, and their text.

import { type Dirent, type Stats, statSync } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import type { Boards } from '../core/boards.ts'
import { type Diagnostic, diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import { limits } from '../core/limits.ts'
import { type ModelName, foldCase, parseModelName } from '../core/names.ts'
import type { SeedFormat } from '../core/model.ts'
import type { ModelFile, PlacedBoard, ProjectFiles, SeedFile } from '../core/project.ts'
import { wholeFile } from '../core/source-text.ts'
import { requireRegular } from '../files/read-file.ts'
import { requireFewFiles } from './file-limits.ts'
import { readBoard, withoutPlaces } from './boards.ts'
import { readSource, unreadable, type UnsavedTexts } from './read-text.ts'
import { declarationsOf, parseSeedSettings, type SeedSettings } from './seed-settings.ts'

/** Schemas that belong to DuckDB, and the one in which eider keeps its own tables. */
const RESERVED_SCHEMAS = [
  '_eider',
  '_eider_stored',
  'information_schema',
  'memory',
  'pg_catalog',
  'system',
  'temp',
]

const SEED_FORMATS: Readonly<Record<string, SeedFormat>> = {
  csv: 'csv',
  tsv: 'csv',
  json: 'json',
  jsonl: 'json',
  ndjson: 'json',
  parquet: 'parquet',
}

/**
 * Reads models/, seeds/, macros/, checks/ and boards/ of the project in `dir`. Files that cannot be read or placed are among `problems`.
 * Names that begin with a dot and texts about the data (*.md) are ignored. `database` is the path of the warehouse.
 */
export async function readProjectFiles(
  dir: string,
  database: string,
  unsaved?: UnsavedTexts,
): Promise<ProjectFiles> {
  const problems: Diagnostic[] = []
  const understood = <T extends object>(items: readonly (T | Diagnostic)[]): readonly T[] =>
    items.filter((item): item is T => {
      if (isDiagnostic(item)) problems.push(item)
      return !isDiagnostic(item)
    })
  const isReserved = (schema: string) => isReservedSchema(schema, database)
  const pathsOf = async (top: string) => {
    try {
      const { paths: saved, loops } = await pathsBelow(dir, top)
      problems.push(...loops)
      const isNew = (path: string) => path.startsWith(`${top}/`) && !saved.includes(path)
      return [...saved, ...[...(unsaved?.keys() ?? [])].filter(isNew)].toSorted()
    } catch (error) {
      problems.push(...problemsOfFolder(top, error))
      return []
    }
  }
  const readAll = (paths: readonly string[]) =>
    paths.filter(isSql).map((path) => readSource(dir, path, limits.modelFileBytes, unsaved))
  const modelPaths = await pathsOf('models')
  problems.push(...modelPaths.filter((path) => !isSql(path)).flatMap(ignoredFile))
  const unread: ModelFile[] = []
  const models = readAll(modelPaths).map((read): ModelFile | Diagnostic => {
    const { path } = isDiagnostic(read) ? read.source : read
    const placed = place(path, ['sql'], isReserved)
    if (isDiagnostic(read)) {
      if (!isDiagnostic(placed)) unread.push({ name: placed.name, source: { path, text: '' } })
      return read
    }
    return isDiagnostic(placed) ? placed : { name: placed.name, source: read }
  })
  const seedPaths = await pathsOf('seeds')
  const seedSettings = new Map<string, SeedSettings>()
  for (const path of seedPaths.filter(isYaml)) {
    const source = readSource(dir, path, limits.configFileBytes, unsaved)
    if (isDiagnostic(source)) problems.push(source)
    else seedSettings.set(withoutExtension(path), parseSeedSettings(source))
    const isAlone = !seedPaths.some(
      (other) => !isYaml(other) && withoutExtension(other) === withoutExtension(path),
    )
    const expected = 'a data file of the same name next to this one'
    const hint = `add ${withoutExtension(path)}.csv, or delete this file`
    if (isAlone)
      problems.push(diagnostic('invalid-model-path', { expected }, wholeFile(path), hint))
  }
  problems.push(...Array.from(seedSettings.values(), ({ diagnostics }) => diagnostics).flat())
  const dataPaths = seedPaths.filter((path) => !isYaml(path))
  const seeds = dataPaths.map((path): SeedFile | Diagnostic => {
    const placed = place(path, Object.keys(SEED_FORMATS), isReserved)
    if (isDiagnostic(placed)) return placed
    const declared = seedSettings.get(withoutExtension(path))
    const seed = { name: placed.name, path, format: SEED_FORMATS[placed.extension]! }
    return notRegular(dir, path) ?? { ...seed, ...declarationsOf(declared) }
  })
  return {
    models: understood(models),
    unreadable: unread,
    seeds: understood(seeds),
    macros: understood(readAll(await pathsOf('macros'))),
    checks: understood(readAll(await pathsOf('checks'))),
    boards: readBoards(dir, await pathsOf('boards'), problems, unsaved),
    problems,
  }
}

/** Boards as they are on disk now, without those that are not understood. */
export async function readBoardsOf(dir: string): Promise<Boards> {
  const { paths } = await pathsBelow(dir, 'boards')
  return {
    boards: readBoards(dir, paths, []).map(withoutPlaces),
    omitted: Math.max(paths.filter(isYaml).length - limits.boards, 0),
  }
}

function readBoards(
  dir: string,
  paths: readonly string[],
  problems: Diagnostic[],
  unsaved?: UnsavedTexts,
): readonly PlacedBoard[] {
  const files = paths.filter(isYaml)
  const [tooMany] = files.splice(limits.boards)
  if (tooMany !== undefined) {
    const because = `of more than ${limits.boards} boards, the first ${limits.boards} by name are shown`
    const hint = 'put charts together into one board, or delete boards that nobody opens'
    problems.push(diagnostic('ignored-file', { because }, wholeFile(tooMany), hint))
  }
  return files.flatMap((path) => {
    const source = readSource(dir, path, limits.configFileBytes, unsaved)
    if (isDiagnostic(source)) {
      problems.push(source)
      return []
    }
    const { board, problems: found } = readBoard(basename(withoutExtension(path)), source)
    problems.push(...found)
    return board === null ? [] : [board]
  })
}

/** DuckDB reads data itself, and would wait for a pipe for ever. */
function notRegular(dir: string, path: string): Diagnostic | null {
  try {
    requireRegular(statSync(join(dir, path)), path)
    return null
  } catch (error) {
    return unreadable(path, error)
  }
}

/** The name that a path `<top>/<schema>/<name>.<extension>` gives. */
function place(
  path: string,
  extensions: readonly string[],
  isReserved: (schema: string) => boolean,
): { readonly name: ModelName; readonly extension: string } | Diagnostic {
  const [top = '', schema = '', file = '', ...more] = path.split('/')
  const dot = file.lastIndexOf('.')
  const extension = file.slice(dot + 1).toLowerCase()
  const name = parseModelName(`${schema}.${file.slice(0, dot)}`)
  const invalid = (expected: string, hint: string) =>
    diagnostic('invalid-model-path', { expected }, wholeFile(path), hint)
  if (isReserved(schema))
    return invalid(
      `another schema; "${schema}" is taken`,
      `rename the folder, such as ${top}/my_${schema.replace(/^_+/, '')}`,
    )
  const shape = `${top}/<schema>/<name>.${extensions.join(', .')}`
  if (file === '') return invalid(shape, `put it into a folder, such as ${top}/core/${schema}`)
  if (more.length > 0) {
    const last = more.at(-1)!
    const folders = [schema, file, ...more.slice(0, -1)]
    return invalid(shape, `join the folders into one name: ${top}/${folders.join('_')}/${last}`)
  }
  if (dot < 1 || !extensions.includes(extension))
    return invalid(
      shape,
      /^xlsx?$/.test(extension) ? 'save the sheet as CSV' : `the file extension decides the format`,
    )
  const plain = file.slice(0, dot).replaceAll(/[.\p{Cc}]/gu, '_')
  if (name === null)
    return invalid(
      'names without dots and control characters',
      `rename it to ${top}/${schema.replaceAll('.', '_')}/${plain}.${extension}`,
    )
  return { name, extension }
}

/** Backup copies of editors are not a mistake. */
const BACKUP = /~$|\.(?:bak|orig|rej|swp|swo|tmp)$|^#.*#$/i

/** A file in models/ that somebody may expect to be read. */
function ignoredFile(path: string): readonly Diagnostic[] {
  const name = basename(path)
  if (BACKUP.test(name)) return []
  const extension = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ''
  const hint = HINTS[extension] ?? 'rename or move it; a name that begins with a dot is ignored'
  return [diagnostic('ignored-file', { because: 'a model is a .sql file' }, wholeFile(path), hint)]
}

const SETTINGS =
  'its tests and descriptions go into the models, as -- @check and -- @description; its sources into eider.yml'
const DATA = 'data files go into seeds/<schema>/'
const PROGRAM = 'eider does not run programs; run it first, and read the file that it writes'
const HINTS: Readonly<Record<string, string>> = {
  yml: SETTINGS,
  yaml: SETTINGS,
  csv: DATA,
  tsv: DATA,
  json: DATA,
  ndjson: DATA,
  parquet: DATA,
  py: PROGRAM,
  ipynb: PROGRAM,
  r: PROGRAM,
}

/** Whether what is in a file at this path, from the directory of the project on, can matter. Of others there may be any number. */
export const decides = (path: string): boolean =>
  isSql(path) || !/^(?:models|macros|checks)[\\/]/.test(path)

interface Below {
  readonly paths: string[]
  /** Links that lead back to themselves. */
  readonly loops: Diagnostic[]
}

/**
 * Paths of files below `dir/top`, relative to `dir`, sorted. Symbolic links are followed. Throws DiagnosticsError where there are
 * too many that matter.
 */
async function pathsBelow(dir: string, top: string): Promise<Below> {
  const found: Below = { paths: [], loops: [] }
  let deciding = 0
  /** `above`: the folders on the way, as they are without links. */
  const walk = async (at: string, above: readonly string[]): Promise<void> => {
    const folder = join(dir, at)
    const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
      if (error.code === 'ENOENT' && above.length === 0) return []
      throw error
    })
    if (entries.length === 0) return
    const way = [...above, await realpath(folder)]
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.') || /\.md$/i.test(entry.name)) continue
      const path = `${at}/${entry.name}`
      const target = entry.isSymbolicLink() ? await targetOf(folder, entry, way) : entry
      if (target instanceof Error) found.loops.push(unreadable(path, target))
      else if (target.isDirectory()) {
        if (above.length < limits.folderDepth) await walk(path, way)
      } else {
        found.paths.push(path)
        if (decides(path)) deciding++
      }
    }
    requireFewFiles(top, deciding)
  }
  await walk(top, [])
  return found
}

const problemsOfFolder = (path: string, error: unknown) =>
  error instanceof DiagnosticsError ? error.diagnostics : [unreadable(path, error)]

/** Of a link; the error where it leads back to a folder on the way. One that leads nowhere is a file that cannot be read. */
async function targetOf(
  folder: string,
  link: Dirent,
  way: readonly string[],
): Promise<Dirent | Stats | Error> {
  const path = join(folder, link.name)
  try {
    const target = await stat(path)
    const real = target.isDirectory() ? await realpath(path) : null
    const isLoop = real !== null && way.some((one) => isBelow(one, real))
    return isLoop ? Object.assign(new Error('a loop of links'), { code: 'INLOOP', path }) : target
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ELOOP' ? (error as Error) : link
  }
}

const isBelow = (path: string, dir: string) => `${path}${sep}`.startsWith(`${dir}${sep}`)

/** Whether no model may be in the schema. `database` is the path of the warehouse. */
export const isReservedSchema = (schema: string, database: string): boolean =>
  [...RESERVED_SCHEMAS, catalogOf(database)].includes(foldCase(schema))

/** DuckDB calls a database by its file's name up to the first dot; a schema of that name would be ambiguous. */
export const catalogOf = (database: string) => foldCase(basename(database).split('.')[0]!)

const isYaml = (path: string) => /\.ya?ml$/i.test(path)
const withoutExtension = (path: string) => path.slice(0, path.lastIndexOf('.'))
const isSql = (path: string) => /\.sql$/i.test(path)
const isDiagnostic = (item: object): item is Diagnostic => 'code' in item
