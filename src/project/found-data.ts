// Files with data that lie in the directory of a new project, as sources of it and views of their tables.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../core/limits.ts'

/** Paths relative to the project directory, with forward slashes. */
export interface FoundData {
  readonly tables: readonly FoundTable[]
  /** Databases of SQLite, whose tables are not looked at. */
  readonly databases: readonly string[]
}

interface FoundTable {
  readonly name: string
  /** A file, or a pattern for several. */
  readonly file: string
}

const TABLE = /\.(?:csv|tsv|parquet)(?:\.(?:gz|zst))?$/i
/** Others would be patterns or variables in eider.yml, or the end of a line. */
const PLAIN = /^[^\p{Cc}*?[\]{}$]+$/u
const DATABASE = /\.(?:sqlite3?|db)$/i
/** What numbers or dates at the end of a name follow, as in `bookings-2026-01`. */
const SERIES = /^(.*[^\d_-][-_])\d[\d_-]*$/

/** Those of the directory itself and of the directories in it. Empty where there is no such directory. */
export async function findData(dir: string): Promise<FoundData> {
  const names = await namesIn(dir, '')
  const inside = await Promise.all(names.directories.map((name) => namesIn(dir, `${name}/`)))
  const files = [...names.files, ...inside.flatMap((one) => one.files)].toSorted()
  const tables = new Map<string, FoundTable>()
  for (const file of patternsOf(files.filter((name) => TABLE.test(name)))) {
    let name = tableName(file)
    while (tables.has(name)) name += '_2'
    tables.set(name, { name, file })
  }
  return {
    tables: [...tables.values()].slice(0, limits.foundTables),
    databases: files.filter((name) => DATABASE.test(name)),
  }
}

export const hasData = ({ tables, databases }: FoundData): boolean =>
  tables.length + databases.length > 0

const NOT_DATA = ['models', 'seeds', 'tests', 'macros', 'checks', 'target', 'node_modules']

async function namesIn(dir: string, below: string) {
  const entries = await readdir(join(dir, below), { withFileTypes: true }).catch(() => [])
  const shown = entries.filter(
    ({ name }) => !name.startsWith('.') && !NOT_DATA.includes(name) && PLAIN.test(name),
  )
  return {
    files: shown.filter((entry) => entry.isFile()).map(({ name }) => below + name),
    directories: shown.filter((entry) => entry.isDirectory()).map(({ name }) => name),
  }
}

/** Files that differ by a number at their end alone are one table. */
function patternsOf(files: readonly string[]): readonly string[] {
  const partsOf = (file: string) => {
    const [end] = TABLE.exec(file)!
    const [, series = null] = SERIES.exec(file.slice(0, -end.length)) ?? []
    return series === null ? null : `${series}*${end}`
  }
  const counts = new Map<string, number>()
  for (const pattern of files.map(partsOf))
    if (pattern !== null) counts.set(pattern, (counts.get(pattern) ?? 0) + 1)
  const shared = (file: string) => {
    const pattern = partsOf(file)
    return pattern !== null && counts.get(pattern)! > 1 ? pattern : file
  }
  return [...new Set(files.map(shared))]
}

function tableName(file: string): string {
  const name = file
    .replace(/^.*\//, '')
    .replace(TABLE, '')
    .normalize('NFKD')
    .replace(/\p{Mark}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  return /^[a-z]/.test(name) ? name.slice(0, 60) : `t_${name.slice(0, 58)}`.replace(/_$/, '')
}

/** What belongs at the end of eider.yml. */
export function sourcesText({ tables, databases }: FoundData): string {
  const files = tables.map(({ name, file }) => `      ${name}:\n        file: ${quoted(file)}\n`)
  const list = files.length === 0 ? '' : `  files:\n    tables:\n${files.join('')}`
  const others = databases.map(
    (path) =>
      `  # ${tableName(path.replace(DATABASE, ''))}:\n  #   sqlite: ${quoted(path)}\n  #   tables:\n  #     name_of_a_table:\n`,
  )
  const hint =
    others.length === 0
      ? ''
      : '  # Reading SQLite needs an extension of DuckDB: eider extension install. Name the tables that models read.\n'
  const none = files.length === 0 ? '# ' : ''
  return `\n${none}sources:\n${list}${hint}${others.join('')}`
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** A view for each table, as the place for what its rows need. */
export const stagingModels = ({ tables }: FoundData) =>
  tables.map(({ name, file }) => ({
    path: `models/staging/${name}.sql`,
    text: `-- @kind: view\n-- @description: Rows of ${file}\n\nSELECT *\nFROM files.${name}\n`,
  }))
