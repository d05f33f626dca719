// `sources` of eider.yml: tables of other databases and files that models read by name.

import { type Node, type Pair, type YAMLMap, isMap, isScalar } from 'yaml'
import type {
  Age,
  ExternalSource,
  ExternalTable,
  SourceServer,
  SourceSystem,
} from '../core/external.ts'
import { holdsPassword } from '../core/lake.ts'
import { foldCase } from '../core/names.ts'
import type { SourceFile, Span } from '../core/source.ts'
import { didYouMean } from '../core/suggest.ts'
import { checkKeys, readDeclaredChecks } from './declared-checks.ts'
import type { Refuse } from './variables.ts'

const UNITS_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const
const AGE = /^(\d{1,6}) (minute|hour|day|week)s?$/
const DATA_FILE = /\.(csv|tsv|txt|json|jsonl|ndjson|parquet)(\.(gz|zst))?$/i
/** Catalogs of DuckDB, and its default schema, which a name of two parts would mean first. */
const RESERVED = ['main', 'memory', 'temp', 'system', 'information_schema', 'pg_catalog']
const EXPECTED = {
  source: 'a group with tables, and database where they are in one',
  database: 'the path of a database file, relative to the project directory',
  url: (system: string) => `a URL without a password, such as ${system}://reader@db.example/shop`,
  file: 'the path of a .csv, .tsv, .json, .ndjson or .parquet file, or a pattern',
  age: 'a time such as 12 hours or 2 days',
}

export function readSources(
  node: Node | null,
  source: SourceFile,
  refuse: Refuse,
): readonly ExternalSource[] {
  const names = new Set<string>()
  return pairsOf(node, 'sources', 'a group of sources by name', refuse).flatMap(
    ([name, key, value]) => {
      const path = `sources.${name}`
      if (!isName(name) || isReserved(name) || names.has(foldCase(name))) {
        refuse(key, path, 'a unique name without dots that DuckDB does not reserve')
        return []
      }
      names.add(foldCase(name))
      if (!isMap(value)) {
        refuse(value ?? key, path, EXPECTED.source)
        return []
      }
      return readSource(name, key, value, source, refuse)
    },
  )
}

function readSource(
  name: string,
  key: Node,
  group: YAMLMap,
  source: SourceFile,
  refuse: Refuse,
): readonly ExternalSource[] {
  const path = `sources.${name}`
  const known = ['database', 'sqlite', 'postgres', 'mysql', 'schema', 'tables']
  const members = membersOf(group, path, known, refuse)
  const { system, database, server } = databaseOf(members, path, refuse)
  const named = textOf(members, 'schema', path, 'the name of a schema', refuse)
  const schema = named ?? (server === null ? 'main' : schemaOf(system, server))
  const expected = 'a group of tables by name'
  // A key that is misspelt has been named already.
  const isWhole = group.items.length === members.size
  if (!members.has('tables') && isWhole)
    refuse(key, path, EXPECTED.source, 'list the tables that models read under "tables"')
  const tables = pairsOf(members.get('tables') ?? null, `${path}.tables`, expected, refuse)
  const read = tables.map(([table, at, value]) =>
    readTable(`${path}.tables.${table}`, table, at, value, {
      source,
      isInDatabase: database !== null,
      refuse,
    }),
  )
  const span = spanOf(key)
  return [{ name, database, system, server, schema, tables: read, source, span }]
}

type Place = Pick<ExternalSource, 'system' | 'database' | 'server'>

/** One of the keys that say where the tables are. */
function databaseOf(members: ReadonlyMap<string, Node>, path: string, refuse: Refuse): Place {
  const keys = ['database', 'sqlite', 'postgres', 'mysql'].filter((key) => members.has(key))
  const [key = 'database', second] = keys
  if (second !== undefined)
    refuse(members.get(second)!, `${path}.${second}`, `left out: the source has ${key}`)
  const isServer = key === 'postgres' || key === 'mysql'
  const text = textOf(members, key, path, isServer ? EXPECTED.url(key) : EXPECTED.database, refuse)
  const system: SourceSystem = key === 'database' ? 'duckdb' : (key as SourceSystem)
  if (text === null || !isServer) return { system, database: text, server: null }
  const server = parseServer(text, key)
  if (server === null) {
    const hint = holdsPassword(text)
      ? `its password is taken from SOURCE_${path.slice('sources.'.length).toUpperCase()}_PASSWORD`
      : undefined
    refuse(members.get(key)!, `${path}.${key}`, EXPECTED.url(key), hint)
  }
  return { system, database: text, server }
}

const PORTS = { postgres: 5432, mysql: 3306 } as const

/** null for what is not such a URL, or has a password. */
function parseServer(text: string, system: 'postgres' | 'mysql'): SourceServer | null {
  const url = URL.canParse(text) ? new URL(text) : null
  const schemes = system === 'postgres' ? ['postgres:', 'postgresql:'] : ['mysql:', 'mariadb:']
  if (url === null || !schemes.includes(url.protocol) || url.password !== '') return null
  const [user, database] = [url.username, url.pathname.slice(1)].map(decodeURIComponent)
  if (!user || !database || url.hostname === '' || url.search !== '' || url.hash !== '') return null
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? PORTS[system] : Number(url.port)
  return { host, port, user, database, password: null }
}

const schemaOf = (system: SourceSystem, { database }: SourceServer): string =>
  system === 'mysql' ? database : 'public'

/** With the passwords of servers, from SOURCE_<NAME>_PASSWORD; those of the first environment that has one count. */
export const withPasswords = (
  sources: readonly ExternalSource[],
  environments: readonly Readonly<Record<string, string | undefined>>[],
): readonly ExternalSource[] =>
  sources.map((source) => {
    if (source.server === null) return source
    const variable = `SOURCE_${source.name.toUpperCase()}_PASSWORD`
    const password = environments.map((all) => all[variable]).find((value) => value) ?? null
    return { ...source, server: { ...source.server, password } }
  })

interface TableContext {
  readonly source: SourceFile
  readonly isInDatabase: boolean
  readonly refuse: Refuse
}

function readTable(
  path: string,
  name: string,
  key: Node,
  node: Node | null,
  { source, isInDatabase, refuse }: TableContext,
): ExternalTable {
  if (!isName(name)) refuse(key, path, 'a name without dots')
  const isGroup = node === null || isMap(node) || (isScalar(node) && node.value === null)
  if (!isGroup) refuse(node, path, 'a group of settings, or nothing')
  const known = ['file', 'loaded_at', 'warn_after', 'error_after', ...checkKeys]
  const members = isMap(node) ? membersOf(node, path, known, refuse) : new Map<string, Node>()
  const file = textOf(members, 'file', path, EXPECTED.file, refuse)
  if (file !== null && isInDatabase)
    refuse(members.get('file')!, `${path}.file`, 'left out: the source has a database')
  else if (isGroup && !isInDatabase && !members.has('file'))
    refuse(key, path, 'a group with file, since the source has no database')
  else if (file !== null && !DATA_FILE.test(file))
    refuse(members.get('file')!, `${path}.file`, EXPECTED.file)
  const loadedAt = textOf(members, 'loaded_at', path, 'the name of a column', refuse)
  const warnAfter = ageOf(members, 'warn_after', path, refuse)
  const errorAfter = ageOf(members, 'error_after', path, refuse)
  if ((warnAfter ?? errorAfter) !== null && loadedAt === null)
    refuse(key, path, 'a group with loaded_at, the column that tells the age of its rows')
  const checks = checkKeys.flatMap((list) => {
    const value = members.get(list)
    if (value === undefined) return []
    const wrong = (at: Node | null, expected: string) =>
      refuse(at ?? key, `${path}.${list}`, expected)
    return readDeclaredChecks(list, value, source, wrong)
  })
  const found = { name, file, loadedAt, warnAfter, errorAfter, span: spanOf(key) }
  return checks.length === 0 ? found : { ...found, checks }
}

function ageOf(
  members: ReadonlyMap<string, Node>,
  key: string,
  path: string,
  refuse: Refuse,
): Age | null {
  const text = textOf(members, key, path, EXPECTED.age, refuse)
  if (text === null) return null
  const [, count, unit] = AGE.exec(text) ?? []
  if (count !== undefined)
    return { text, ms: Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS] }
  refuse(members.get(key)!, `${path}.${key}`, EXPECTED.age)
  return null
}

function textOf(
  members: ReadonlyMap<string, Node>,
  key: string,
  path: string,
  expected: string,
  refuse: Refuse,
): string | null {
  const node = members.get(key)
  if (node === undefined) return null
  if (isScalar(node) && typeof node.value === 'string' && node.value !== '') return node.value
  refuse(node, `${path}.${key}`, expected)
  return null
}

/** Members by name; unknown ones are refused. */
function membersOf(
  group: YAMLMap,
  path: string,
  known: readonly string[],
  refuse: Refuse,
): ReadonlyMap<string, Node> {
  const found = new Map<string, Node>()
  for (const { key, value } of group.items as readonly Pair<Node, Node | null>[]) {
    const name = isScalar(key) ? String(key.value) : ''
    if (!known.includes(name)) {
      const hint = didYouMean(name, known) ?? `known here: ${known.join(', ')}`
      refuse(key, path, `a group of ${known.join(', ')}`, hint)
    } else if (value !== null && !(isScalar(value) && value.value === null)) found.set(name, value)
  }
  return found
}

function pairsOf(
  node: Node | null,
  path: string,
  expected: string,
  refuse: Refuse,
): readonly (readonly [string, Node, Node | null])[] {
  if (node === null || (isScalar(node) && node.value === null)) return []
  if (isMap(node))
    return (node.items as readonly Pair<Node, Node | null>[]).map(
      ({ key, value }) => [isScalar(key) ? String(key.value) : '', key, value] as const,
    )
  refuse(node, path, expected)
  return []
}

/** Names of eider's own databases begin with that of its schema. */
const isReserved = (name: string) =>
  RESERVED.includes(foldCase(name)) || foldCase(name).startsWith('_eider')

const isName = (name: string) => /^[^.\p{Cc}]+$/u.test(name)

function spanOf(node: Node): Span {
  const [start, end] = node.range ?? [0, 0]
  return { start, end }
}
