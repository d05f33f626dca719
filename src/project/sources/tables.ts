// The tables of a source: those of a database by name, others as files.

import { type Node, isMap, isScalar, YAMLMap } from 'yaml'
import type { ExternalTable, FileFormat } from '../../core/sources.ts'
import { isTypeText } from '../../core/relation.ts'
import { csvKeys, flagOf, readCsvSettings } from '../csv-settings.ts'
import { checkKeys, readDeclaredChecks } from '../declared-checks.ts'
import {
  entriesOf,
  groupOf,
  isAbsent,
  membersOf,
  type Reader,
  spanOf,
  textOfNode,
} from '../members.ts'
import { hasVariable } from './environment.ts'
import { ageOf, type Group, namedGroups, refuseText, type Text, textOf } from './nodes.ts'

export const TABLE_KEYS = [
  'file',
  'iceberg',
  'delta',
  'sheet',
  'range',
  'columns',
  'csv',
  'parquet',
  'changed_by',
  'loaded_at',
  'warn_after',
  'error_after',
  ...checkKeys,
] as const
const PLACES = ['file', 'iceberg', 'delta'] as const
const DATA_FILE = /\.(csv|tsv|txt|json|jsonl|ndjson|parquet)(\.(gz|zst))?$|\.xlsx$/i
const REMOTE = /^(s3|https?):\/\/[^/]/
const EXPECTED = {
  file: 'the path or URL of a .csv, .tsv, .json, .ndjson, .parquet or .xlsx file, or a pattern',
  iceberg: 'the directory of an Iceberg table, or its .metadata.json file',
  delta: 'the directory of a Delta table',
}

/** What the source is beside its tables. */
interface TablePlace {
  readonly isInDatabase: boolean
  readonly isOnServer: boolean
}

export function readSourceTables(source: Group, place: TablePlace): readonly ExternalTable[] {
  const path = `${source.path}.tables`
  const node = source.node('tables') ?? null
  return namedGroups(node, path, 'a group of tables by name', source).map(
    ({ name, key, value }) => {
      const table = readTable(source, name, key, value, place)
      const checks = checksOf(source, `${path}.${name}`, key, value)
      return checks.length === 0 ? table : { ...table, checks }
    },
  )
}

function readTable(
  { environment, ...reader }: Group,
  name: string,
  at: Node,
  node: Node | null,
  { isInDatabase, isOnServer }: TablePlace,
): ExternalTable {
  const path = `${reader.path}.tables.${name}`
  if (!/^[^.\p{Cc}]+$/u.test(name)) reader.refuse(at, path, 'a name without dots')
  const isGroup = isAbsent(node) || isMap(node)
  if (!isGroup) reader.refuse(node, path, 'a group of settings, or nothing', tableHint(node))
  const members = isMap(node) ? node : new YAMLMap()
  const group = { ...membersOf(members, path, TABLE_KEYS, reader, { at }), environment }
  const { file, format } = fileOf(group, isGroup, isInDatabase)
  const loadedAt = textOf(group, 'loaded_at', 'the name of a column')?.value ?? null
  const warnAfter = ageOf(group, 'warn_after')
  const errorAfter = ageOf(group, 'error_after')
  if ((warnAfter ?? errorAfter) !== null && loadedAt === null)
    group.refuseMember(null, 'a group with loaded_at, the column that tells the age of its rows')
  return {
    name,
    file: file?.written ?? null,
    location: file?.value ?? null,
    format,
    ...cellsOf(group, format, file),
    columns: columnsOf(group, isOnServer, format),
    ...csvOf(group, format, file),
    ...parquetOf(group, format, file),
    changedBy: changedByOf(group, isInDatabase),
    loadedAt,
    warnAfter,
    errorAfter,
    span: spanOf(at),
  }
}

/** A file, or the name that a table has in its database, in one line. */
function tableHint(node: Node): string | undefined {
  const text = textOfNode(node)
  if (text === null) return undefined
  if (DATA_FILE.test(withoutQuery(text))) return `write it as a setting of the table: file: ${text}`
  const [, schema, table] = /^([\w$]+)\.([\w$]+)$/.exec(text) ?? []
  return schema === undefined
    ? 'a table has the name that it has in the database, and nothing after the colon'
    : `write "schema: ${schema}" at the source, and the table as "${table}:"`
}

function checksOf(
  { source, refuse }: Reader,
  path: string,
  key: Node,
  node: Node | null,
): NonNullable<ExternalTable['checks']> {
  if (!isMap(node)) return []
  return checkKeys.flatMap((list) => {
    const value = (node.get(list, true) ?? null) as Node | null
    if (isAbsent(value)) return []
    const wrong = (at: Node | null, expected: string) =>
      refuse(at ?? key, `${path}.${list}`, expected)
    return readDeclaredChecks(list, value, source, wrong)
  })
}

/** A file tells by itself that it has changed. */
function changedByOf(group: Group, isInDatabase: boolean): string | null {
  if (group.has('changed_by') && !isInDatabase) {
    group.refuseMember('changed_by', 'left out: the table is not in a database')
    return null
  }
  return textOf(group, 'changed_by', 'the name of a column')?.value ?? null
}

interface Place {
  readonly file: Text | null
  readonly format: FileFormat | null
}

function fileOf(group: Group, isGroup: boolean, isInDatabase: boolean): Place {
  const none = { file: null, format: null }
  const [place, second] = PLACES.filter(group.has)
  if (place !== undefined && isInDatabase) {
    group.refuseMember(place, 'left out: the source has a database')
    return none
  }
  if (second !== undefined) group.refuseMember(second, `left out: the table has ${place}`)
  if (place === undefined) {
    if (isGroup && !isInDatabase)
      group.refuseMember(null, 'a group with file, since the source has no database')
    return none
  }
  const file = textOf(group, place, EXPECTED[place])
  if (file === null) return none
  const value = file.value ?? file.written
  const isKnown = !value.includes('://') || REMOTE.test(value) || hasVariable(value)
  const wrong = !isKnown
    ? 'a path, or a URL that begins with s3:, https: or http:'
    : place === 'file' && !DATA_FILE.test(withoutQuery(value)) && !hasVariable(value)
      ? EXPECTED.file
      : null
  if (wrong !== null) refuseText(group, place, file, wrong, otherFile(value))
  return { file, format: place === 'file' ? formatOf(value) : place }
}

/** What to do with a file of a form that is not read. */
function otherFile(file: string): string | undefined {
  if (file.startsWith('https://docs.google.com/spreadsheets/'))
    return 'download it as .csv or .xlsx into the project, and name that file'
  if (/\.(?:zip|7z|rar|tar|tgz|tar\.gz|bz2|xz)$/i.test(file))
    return 'unpack it and name the file in it; .gz and .zst are read as they are'
  if (/\.(?:xls|xlsm|xlsb|ods|numbers)$/i.test(file))
    return 'save it as .xlsx or .csv, and name that file'
  const [last = ''] = file.split('/').slice(-1)
  if (file.includes('://') || last.includes('.')) return undefined
  return `if it is a directory, name its files by a pattern: ${file.replace(/\/*$/, '/')}*.csv`
}

/** A URL may go on after the name of the file. */
const withoutQuery = (file: string) => (/^https?:/.test(file) ? file.replace(/[?#].*$/s, '') : file)

/** By the end of the name. */
function formatOf(file: string): FileFormat {
  const name = withoutQuery(file).toLowerCase()
  const [, extension = ''] = /\.(\w+?)(?:\.(?:gz|zst))?$/.exec(name) ?? []
  if (extension === 'parquet') return 'parquet'
  if (extension === 'xlsx') return 'excel'
  return ['json', 'jsonl', 'ndjson'].includes(extension) ? 'json' : 'csv'
}

/** A DOUBLE tells apart all numbers of so many digits. */
const EXACT_DIGITS = 15
const EXPECTED_COLUMN = `DECIMAL(15, 2), of at most ${EXACT_DIGITS} digits, or DOUBLE`

function columnsOf(
  group: Group,
  isOnServer: boolean,
  format: FileFormat | null,
): ReadonlyMap<string, string> {
  const columns = new Map<string, string>()
  const node = group.node('columns')
  if (node === undefined) return columns
  const isCsv = format === 'csv'
  if (!isOnServer && !isCsv)
    group.refuseMember('columns', 'left out: the table is neither on a server nor a CSV file')
  else if (!isMap(node)) group.refuseMember('columns', 'a group of types by column')
  else
    for (const { name, key, value } of entriesOf(node)) {
      const type = textOfNode(value)?.trim().toUpperCase() ?? ''
      const before = columns.size === 0 ? undefined : [...columns].at(-1)
      const whole = before && dividedType(before, name)
      if (whole !== undefined) {
        group.refuse(key, `${group.path}.columns.${name}`, whole)
        continue
      }
      if (isCsv) {
        if (type !== '' && isTypeText(type)) columns.set(name, type)
        else group.refuse(value ?? key, `${group.path}.columns.${name}`, 'a type, such as INTEGER')
        continue
      }
      const [, digits, scale = '0'] = /^DECIMAL\((\d+)(?:, *(\d+))?\)$/.exec(type) ?? []
      const isExact = Number(digits) <= EXACT_DIGITS && Number(scale) <= Number(digits)
      if (type === 'DOUBLE' || (isExact && Number(digits) > 0)) columns.set(name, type)
      else group.refuse(value ?? key, `${group.path}.columns.${name}`, EXPECTED_COLUMN)
    }
  return columns
}

/** What must be written, where YAML has parted a type at its comma. */
export const dividedType = (
  [column, type]: readonly [string, string],
  next: string,
): string | undefined =>
  /^\d+\)$/.test(next) && type.includes('(') && !type.includes(')')
    ? `in quotes with what is before it: ${column}: "${type},${next}"`
    : undefined

function csvOf(
  group: Group,
  format: FileFormat | null,
  file: Text | null,
): Pick<ExternalTable, 'csv'> {
  const node = group.node('csv')
  if (node === undefined) return {}
  if (file !== null && format !== 'csv') {
    const hint =
      format === 'parquet'
        ? 'for files whose columns differ: parquet: {union_by_name: true}'
        : undefined
    group.refuseMember('csv', 'left out: the file is not a CSV', hint)
    return {}
  }
  return { csv: readCsvSettings(node, `${group.path}.csv`, csvKeys, group) }
}

export const parquetKeys = ['union_by_name'] as const

function parquetOf(
  group: Group,
  format: FileFormat | null,
  file: Text | null,
): Pick<ExternalTable, 'parquet'> {
  const node = group.node('parquet')
  if (node === undefined) return {}
  if (file !== null && format !== 'parquet') {
    group.refuseMember('parquet', 'left out: the file is not a Parquet file')
    return {}
  }
  const members = groupOf(node, `${group.path}.parquet`, parquetKeys, group)
  return members === null ? {} : { parquet: { unionByName: flagOf(members, 'union_by_name') } }
}

/** The part of an Excel file that has the rows. */
function cellsOf(
  group: Group,
  format: FileFormat | null,
  file: Text | null,
): Pick<ExternalTable, 'sheet' | 'range'> {
  for (const key of ['sheet', 'range'])
    if (group.has(key) && file !== null && format !== 'excel')
      group.refuseMember(key, 'left out: the file is not an .xlsx file')
  const number = group.node('sheet')
  const isNumber = isScalar(number) && typeof number.value === 'number'
  const sheet = isNumber
    ? String(number.value)
    : (textOf(group, 'sheet', 'the name of a sheet')?.value ?? null)
  const expected = 'a range of cells, such as A1:D20'
  const range = textOf(group, 'range', expected)?.value ?? null
  if (range !== null && !/^[A-Z]{1,3}[1-9]\d*:[A-Z]{1,3}[1-9]\d*$/i.test(range))
    group.refuseMember('range', expected)
  return { sheet, range }
}
