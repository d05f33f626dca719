// The tables of a source: those of a database by name, others as files.

import { type Node, isMap, isScalar } from 'yaml'
import type { ExternalTable, FileFormat } from '../../core/sources.ts'
import type { SourceFile } from '../../core/source.ts'
import { checkKeys, readDeclaredChecks } from '../declared-checks.ts'
import { membersOf, spanOf } from '../members.ts'
import { hasVariable } from './environment.ts'
import { ageOf, type Group, pairsOf, type Text, textOf } from './nodes.ts'

export const TABLE_KEYS = [
  'file',
  'iceberg',
  'delta',
  'sheet',
  'range',
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

export function readTables(
  group: Group,
  isInDatabase: boolean,
  source: SourceFile,
): readonly ExternalTable[] {
  const { members, path, refuse, environment } = group
  const node = members.get('tables') ?? null
  return pairsOf(node, `${path}.tables`, 'a group of tables by name', refuse).map(
    ([name, at, value]) => {
      const place = { path: `${path}.tables.${name}`, refuse, environment }
      const table = readTable(place, name, at, value, isInDatabase)
      const checks = checksOf(place, at, value, source)
      return checks.length === 0 ? table : { ...table, checks }
    },
  )
}

function readTable(
  place: Omit<Group, 'members'>,
  name: string,
  key: Node,
  node: Node | null,
  isInDatabase: boolean,
): ExternalTable {
  const { path, refuse } = place
  if (!/^[^.\p{Cc}]+$/u.test(name)) refuse(key, path, 'a name without dots')
  const isGroup = node === null || isMap(node) || (isScalar(node) && node.value === null)
  if (!isGroup) refuse(node, path, 'a group of settings, or nothing')
  const members = isMap(node) ? membersOf(node, path, TABLE_KEYS, refuse) : new Map<string, Node>()
  const group = { ...place, members }
  const { file, format } = fileOf(group, key, isGroup, isInDatabase)
  const loadedAt = textOf(group, 'loaded_at', 'the name of a column')?.value ?? null
  const warnAfter = ageOf(group, 'warn_after')
  const errorAfter = ageOf(group, 'error_after')
  if ((warnAfter ?? errorAfter) !== null && loadedAt === null)
    refuse(key, path, 'a group with loaded_at, the column that tells the age of its rows')
  return {
    name,
    file: file?.written ?? null,
    location: file?.value ?? null,
    format,
    ...cellsOf(group, format, file),
    loadedAt,
    warnAfter,
    errorAfter,
    span: spanOf(key),
  }
}

function checksOf(
  { path, refuse }: Pick<Group, 'path' | 'refuse'>,
  key: Node,
  node: Node | null,
  source: SourceFile,
): NonNullable<ExternalTable['checks']> {
  if (!isMap(node)) return []
  return checkKeys.flatMap((list) => {
    const value = (node.get(list, true) ?? null) as Node | null
    if (value === null || (isScalar(value) && value.value === null)) return []
    const wrong = (at: Node | null, expected: string) =>
      refuse(at ?? key, `${path}.${list}`, expected)
    return readDeclaredChecks(list, value, source, wrong)
  })
}

interface Place {
  readonly file: Text | null
  readonly format: FileFormat | null
}

function fileOf(group: Group, key: Node, isGroup: boolean, isInDatabase: boolean): Place {
  const { members, path, refuse } = group
  const none = { file: null, format: null }
  const [place, second] = PLACES.filter((one) => members.has(one))
  if (place !== undefined && isInDatabase) {
    refuse(members.get(place)!, `${path}.${place}`, 'left out: the source has a database')
    return none
  }
  if (second !== undefined)
    refuse(members.get(second)!, `${path}.${second}`, `left out: the table has ${place}`)
  if (place === undefined) {
    if (isGroup && !isInDatabase)
      refuse(key, path, 'a group with file, since the source has no database')
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
  if (wrong !== null)
    if (hasVariable(file.written))
      group.environment.wrong(`${file.written} is not ${wrong}`, file.node, `set it to ${wrong}`)
    else refuse(file.node, `${path}.${place}`, wrong)
  return { file, format: place === 'file' ? formatOf(value) : place }
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

/** The part of an Excel file that has the rows. */
function cellsOf(
  group: Group,
  format: FileFormat | null,
  file: Text | null,
): Pick<ExternalTable, 'sheet' | 'range'> {
  const { members, path, refuse } = group
  for (const key of ['sheet', 'range'])
    if (members.has(key) && file !== null && format !== 'excel')
      refuse(members.get(key)!, `${path}.${key}`, 'left out: the file is not an .xlsx file')
  const number = members.get('sheet')
  const isNumber = isScalar(number) && typeof number.value === 'number'
  const sheet = isNumber
    ? String(number.value)
    : (textOf(group, 'sheet', 'the name of a sheet')?.value ?? null)
  const range = textOf(group, 'range', 'a range of cells, such as A1:D20')
  if (range?.value != null && !/^[A-Z]{1,3}[1-9]\d*:[A-Z]{1,3}[1-9]\d*$/i.test(range.value))
    refuse(range.node, `${path}.range`, 'a range of cells, such as A1:D20')
  return { sheet, range: range?.value ?? null }
}
