// The group `csv` of a table of a source and of the .yml next to a seed.

import { type Node, isScalar } from 'yaml'
import type { CsvSettings } from '../core/csv-settings.ts'
import { groupOf, type Members, type Reader } from './members.ts'

/** What a seed may say: the rest follows from its header. */
export const seedCsvKeys = [
  'nulls',
  'decimal',
  'thousands',
  'date_format',
  'timestamp_format',
] as const

export const csvKeys = [
  ...seedCsvKeys,
  'delimiter',
  'quote',
  'header',
  'encoding',
  'union_by_name',
] as const

/** The encodings that DuckDB reads without an extension. */
const ENCODINGS = ['utf-8', 'utf-16', 'latin-1']

const EXPECTED_FORMAT = 'a format such as "%d/%m/%Y"'

export function readCsvSettings(
  node: Node,
  path: string,
  keys: readonly string[],
  reader: Reader,
): CsvSettings {
  const group = groupOf(node, path, keys, reader)
  if (group === null) return {}
  const nulls = group.texts('nulls', 'a string that means NULL in quotes, or a list of them')
  const { decimal, thousands } = separatorsOf(group)
  const settings = {
    delimiter: signOf(group, 'delimiter', 'one character, such as ";"'),
    quote: signOf(group, 'quote', `one character, such as "'", or "" for none`, true),
    header: flagOf(group, 'header'),
    nulls: nulls.length === 0 ? undefined : nulls.map(({ written }) => written),
    decimal,
    thousands,
    encoding: encodingOf(group),
    dateFormat: formatOf(group, 'date_format', EXPECTED_FORMAT),
    timestampFormat: formatOf(group, 'timestamp_format', 'a format such as "%d/%m/%Y %H:%M:%S"'),
    unionByName: flagOf(group, 'union_by_name'),
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

function separatorsOf(group: Members) {
  const decimal = signOf(group, 'decimal', '"," or "."')
  const thousands = signOf(group, 'thousands', 'one character, such as "."')
  if (decimal !== undefined && !/^[.,]$/.test(decimal)) group.refuseMember('decimal', '"," or "."')
  if (thousands !== undefined && thousands === (decimal ?? '.'))
    group.refuseMember('thousands', `another character than "${thousands}", which begins decimals`)
  return { decimal, thousands }
}

function signOf(group: Members, key: string, expected: string, mayBeNone = false) {
  const node = group.node(key)
  if (node === undefined) return undefined
  const sign = isScalar(node) && typeof node.value === 'string' ? node.value : null
  if (sign !== null && (sign.length === 1 || (mayBeNone && sign === ''))) return sign
  group.refuseMember(key, expected)
  return undefined
}

export function flagOf(group: Members, key: string): boolean | undefined {
  const node = group.node(key)
  if (node === undefined) return undefined
  if (isScalar(node) && typeof node.value === 'boolean') return node.value
  group.refuseMember(key, 'true or false')
  return undefined
}

function encodingOf(group: Members): string | undefined {
  const text = group.text('encoding', ENCODINGS.join(', '))?.toLowerCase()
  if (text === undefined) return undefined
  const known = ENCODINGS.find((name) => name.replace('-', '') === text.replaceAll(/[-_]/g, ''))
  if (known === undefined) {
    const hint =
      'save the file as UTF-8; latin-1 reads what Windows calls 1252 except for €, quotes and dashes'
    group.refuseMember('encoding', `one of ${ENCODINGS.join(', ')}`, hint)
  }
  return known
}

/** A format for DuckDB's strptime(), which needs the parts of a date and no others. */
function formatOf(group: Members, key: string, expected: string): string | undefined {
  const text = group.text(key, expected) ?? undefined
  if (text === undefined || /%/.test(text)) return text
  const written = text
    .replace(/yyyy/i, '%Y')
    .replace(/\bdd\b/i, '%d')
    .replace(/mm/i, '%m')
  const hint = /%/.test(written)
    ? `write "${written}": %d is the day, %m the month, %Y the year`
    : undefined
  group.refuseMember(key, expected, hint)
  return undefined
}
