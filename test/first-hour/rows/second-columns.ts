// What is written under `columns` of a CSV, and values that its types refuse.

import { inSource, read, run } from '../in-source.ts'
import type { Mistake } from '../mistake.ts'

const yes = 'id,paid\n1,J\n2,N\n'

const inColumns = (
  id: string,
  mistake: string,
  columns: string,
  answer: string,
  file = yes,
): Mistake => ({
  ...inSource(id, mistake, read('data/t.csv', { 'data/t.csv': file }, [`columns: ${columns}`]), [
    'check',
  ]),
  answer: `
      ${answer}
      failed: 6 models, 1 error, 0 warnings`,
  exitCode: 1,
  grade: 'A',
})

const unreadable = 'eider.yml:5:7 error invalid-source: the source "f.t" cannot be read:'

const failing = (
  id: string,
  mistake: string,
  file: string,
  columns: string,
  problem: string,
): Mistake => ({
  ...inSource(
    id,
    mistake,
    read('data/t.csv', { 'data/t.csv': file }, [`columns: ${columns}`]),
    run,
  ),
  answer: `
      models/core/t.sql:1:1 error core.t: t.csv, line 2: ${problem}
      failed core.t models/core/t.sql:1:1: t.csv, line 2: ${problem}
      1 failed, published <id> in <time> eider run --retry`,
  exitCode: 1,
  grade: 'A',
})

export const rows: readonly Mistake[] = [
  failing(
    's3',
    'yes and no of another language as BOOLEAN',
    yes,
    '{paid: BOOLEAN}',
    `Error when converting column "paid". Could not convert string "J" to 'BOOLEAN'; columns: {paid: VARCHAR} reads it as text, for paid = 'J' in a model`,
  ),
  failing(
    's3-missing',
    'a word for a missing value as BOOLEAN',
    'id,paid\n1,unknown\n2,true\n',
    '{paid: BOOLEAN}',
    `Error when converting column "paid". Could not convert string "unknown" to 'BOOLEAN'; csv: {nulls: ['unknown']} reads it as NULL`,
  ),
  failing(
    's35',
    'names of months as DATE',
    'id,d\n1,31-Jan-2026\n2,01-Feb-2026\n',
    '{d: DATE}',
    `the column "d" has 31-Jan-2026, which is no date; csv: {date_format: "%d-%b-%Y"} reads it`,
  ),
  failing(
    's35-digits',
    'digits alone as DATE',
    'id,d\n1,20260131\n2,20260201\n',
    '{d: DATE}',
    `the column "d" has 20260131, which is no date; csv: {date_format: "%Y%m%d"} reads it`,
  ),
  inColumns(
    's26',
    'a type of another database',
    '{id: money}',
    `${unreadable} columns.id: "MONEY" is not a column type
      hint: in DuckDB: DECIMAL(19,4)`,
  ),
  inColumns(
    's40',
    'a misspelt column under columns',
    '{payd: VARCHAR}',
    `${unreadable} columns.payd: data/t.csv has no such column
      hint: did you mean "paid"?`,
  ),
  inColumns(
    's40-other',
    'a column that the file does not have',
    '{amount: BIGINT}',
    `${unreadable} columns.amount: data/t.csv has no such column
      hint: its columns are id, paid`,
  ),
  {
    ...inSource(
      's39',
      'a type with a comma, not in quotes',
      read('data/t.csv', { 'data/t.csv': yes }, ['columns: {id: decimal(12,2), paid: VARCHAR}']),
      ['check'],
    ),
    answer: `
      eider.yml:7:34 error config-invalid-value: "sources.f.tables.t.columns.2)" must be in quotes with what is before it: id: "DECIMAL(12,2)"
      failed: 0 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 's39-seed',
    mistake: 'the same in a seed',
    files: {
      'seeds/ref/t.csv': yes,
      'seeds/ref/t.yml': 'columns: {id: DECIMAL(12,2), paid: VARCHAR}\n',
    },
    answer: `
      seeds/ref/t.yml:1:26 error config-invalid-value: "columns.2)" must be in quotes with what is before it: id: "DECIMAL(12,2)"`,
    grade: 'A',
  },
  {
    ...inSource(
      's37',
      'a name twice in a header',
      read('data/t.csv', { 'data/t.csv': 'id;amount;Amount\n1;2;3\n' }),
      ['check'],
    ),
    answer: `
      eider.yml:5:7 warning duplicate-seed-column: the header has "Amount" twice; the second is read as "Amount_1"
      hint: give each column a name
      ok: 6 models, 0 errors, 1 warning`,
    grade: 'A',
  },
]
