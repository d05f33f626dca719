// Columns of numbers that DuckDB takes for text because of a few cells, such as a dash, that most likely mean nothing.

import { count, grouped } from '../../core/counts.ts'
import type { CsvSettings } from '../../core/csv-settings.ts'
import { limits } from '../../core/limits.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { losesZeros, writtenIn } from './guessed-types.ts'

/** In lower case. What else is no number may be a code or a mistake, of which nobody knows that it means nothing. */
const WORDS = [
  '-',
  '--',
  '---',
  '–',
  '—',
  '.',
  '..',
  '?',
  '/',
  '\\n',
  'na',
  'n/a',
  'n.a.',
  'n. a.',
  '#n/a',
  'null',
  '(null)',
  '#null!',
  'nil',
  'none',
  'k.a.',
  'k. a.',
  'unknown',
  'missing',
  '(empty)',
  '(blank)',
  '#div/0!',
  '#value!',
  '#ref!',
]

interface WordyColumn {
  readonly column: string
  /** As they are written, with the blanks around them. */
  readonly words: readonly string[]
  /** Of the rows that were looked at, from 1: the first that has one. */
  readonly first: number
  /** Says all but how to mend it. `at`: of the first one, where that is known. */
  readonly problem: (at: string) => string
}

/** `texts`: the rows with each value as it is written; `columns`: those whose types nobody has declared. */
export async function numbersWithWords(
  connection: Connection,
  texts: Sql,
  columns: readonly Pick<Column, 'name' | 'type'>[],
  csv: CsvSettings = {},
): Promise<readonly WordyColumn[]> {
  // What is no name has a mistake of its own.
  const isNamed = (name: string) => name !== '' && !name.includes('\0')
  const found = columns.filter(({ name, type }) => type === 'VARCHAR' && isNamed(name))
  if (found.length === 0) return []
  const words = sql.join(WORDS.map((word) => sql.value(word)))
  const asked = found.map(({ name }, i) => {
    const { text, number } = writtenIn(name, csv)
    const isWord = sql`lower(${text}) IN (${words})`
    const isNumber = sql`(TRY_CAST(${number} AS DOUBLE) IS NOT NULL AND NOT (${losesZeros(text)}))`
    return sql`count(*) FILTER (WHERE ${isWord}) AS ${sql.ident(`w${i}`)},
      count(*) FILTER (WHERE ${isNumber}) AS ${sql.ident(`n${i}`)},
      bool_and(${isWord} OR ${isNumber}) AS ${sql.ident(`a${i}`)},
      min(_eider_row) FILTER (WHERE ${isWord}) AS ${sql.ident(`f${i}`)},
      array_to_string(list_sort(list(DISTINCT ${sql.ident(name)}) FILTER (WHERE ${isWord})), chr(10)) AS ${sql.ident(`t${i}`)}`
  })
  const some = sql`(SELECT * FROM (${texts}) LIMIT ${sql.value(limits.csvSampledRows)})`
  const row = await connection.row(sql`
    SELECT count(*) AS rows, ${sql.join(asked)}
    FROM (SELECT *, row_number() OVER () AS _eider_row FROM ${some})`)
  const rows = numberOf(row?.['rows'] ?? 0)
  const of = rows < limits.csvSampledRows ? count(rows, 'row') : `the first ${grouped(rows)} rows`
  return found.flatMap(({ name: column }, i) => {
    const [wordy, numbers] = [`w${i}`, `n${i}`].map((key) => numberOf(row?.[key] ?? 0))
    if (row?.[`a${i}`] !== true || wordy === 0 || numbers! <= wordy!) return []
    const written = textOf(row[`t${i}`]!).split('\n')
    // With blanks around them they are of as many forms as there are widths, which no list names.
    if (written.length > WORDS.length) return []
    const named = written.map((word) => `"${word}"`).join(', ')
    const problem = (at: string) =>
      `the column "${column}" is text because of ${named} in ${grouped(wordy!)} of ${of}${at}; all its other values are numbers`
    return [{ column, words: written, first: numberOf(row[`f${i}`]!), problem }]
  })
}

/** What to write at a table or for a seed. */
export function hintOfWords(
  { column, words }: Pick<WordyColumn, 'column' | 'words'>,
  { nulls = [] }: CsvSettings = {},
): string {
  const all = [...nulls, ...words].map((word) => `'${word.replaceAll("'", "''")}'`)
  return `csv: {nulls: [${all.join(', ')}]}, so that such cells are NULL; or columns: {${column}: VARCHAR}, if text is meant`
}
