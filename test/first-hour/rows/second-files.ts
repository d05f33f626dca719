// Files of a Parquet pattern that differ, and files that are not read.

import { inSource, read, run } from '../in-source.ts'
import type { Mistake, Step } from '../mistake.ts'

const show = ['query', '--format', 'csv', 'SELECT * FROM core.t ORDER BY ALL']

const written = (file: string, query: string): Step => ['query', query, '--output', `data/${file}`]

/** A pattern of the Parquet files that these queries write. */
const parquet = (
  id: string,
  mistake: string,
  queries: readonly string[],
  {
    more = [],
    after = [],
    eider = run,
  }: { more?: string[]; after?: Step[]; eider?: string[] } = {},
): Pick<Mistake, 'id' | 'mistake' | 'files' | 'ask'> => ({
  id,
  mistake,
  files: { 'data/README': '' },
  ask: {
    eider,
    after: [
      ...queries.map((query, i) => written(`p${i}.parquet`, query)),
      read('data/p*.parquet', {}, more),
      ...after,
    ],
  },
})

const shown = { eider: show, after: [run] }
const decimals = [
  'SELECT 1 AS id, 5.50::DECIMAL(10, 2) AS amount',
  'SELECT 2 AS id, 7.125::DECIMAL(10, 3) AS amount',
]
const columns = ['SELECT 1 AS id, 5 AS amount', "SELECT 2 AS id, 6 AS amount, 'x' AS note"]
const united = { ...shown, more: ['parquet: {union_by_name: true}'] }

export const rows: readonly Mistake[] = [
  {
    ...parquet('s8', 'a later Parquet file has more decimals', decimals),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: data/p1.parquet: the column "amount" has 7.125 (DECIMAL(10,3)), which would be 7.13: it is DECIMAL(10,2) in data/p0.parquet
      hint: give the column the same type in all files, or write "parquet: {union_by_name: true}": it then has a type for the values of all
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: data/p1.parquet: the column "amount" has 7.125 (DECIMAL(10,3)), which would be 7.13: it is DECIMAL(10,2) in data/p0.parquet
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...parquet('s8-united', 'a later Parquet file has more decimals, allowed', decimals, united),
    answer: `
      id,amount
      1,5.500
      2,7.125`,
    grade: 'A',
  },
  {
    ...parquet(
      's8-equal',
      'a later Parquet file has other types that change no value',
      [
        'SELECT 1::BIGINT AS id, 5.50::DECIMAL(10, 2) AS amount',
        'SELECT 2.0::DOUBLE AS id, 7.120::DECIMAL(10, 3) AS amount',
      ],
      shown,
    ),
    answer: `
      id,amount
      1,5.50
      2,7.12`,
    grade: 'A',
  },
  {
    ...parquet('s9', 'a later Parquet file has one column more', columns),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: data/p1.parquet has a column "note", which data/p0.parquet does not have
      hint: give all files the same columns, or write "parquet: {union_by_name: true}": a column that a file lacks is then NULL
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: data/p1.parquet has a column "note", which data/p0.parquet does not have
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...parquet('s9-united', 'a later Parquet file has one column more, allowed', columns, united),
    answer: `
      id,amount,note
      1,5,
      2,6,x`,
    grade: 'A',
  },
  {
    ...parquet('s9-csv', 'the setting of CSV files for Parquet files', columns, {
      more: ['csv: {union_by_name: true}'],
    }),
    answer: `
      eider.yml:7:14 error config-invalid-value: "sources.f.tables.t.csv" must be left out: the file is not a CSV
      hint: for files whose columns differ: parquet: {union_by_name: true}
      1 error`,
    exitCode: 1,
    grade: 'A',
  },
  ...[
    [
      'zip',
      'data/x.csv.zip',
      'unpack it and name the file in it; .gz and .zst are read as they are',
    ],
    ['xls', 'data/x.xls', 'save it as .xlsx or .csv, and name that file'],
    [
      'google',
      'https://docs.google.com/spreadsheets/d/1AbC/edit#gid=0',
      'download it as .csv or .xlsx into the project, and name that file',
    ],
    [
      'folder',
      'data/months',
      'if it is a directory, name its files by a pattern: data/months/*.csv',
    ],
  ].map(([id, file, hint]): Mistake => ({
    ...inSource(`s38-${id}`, `a source that is ${file}`, read(file!, {}), ['check']),
    answer: `
        eider.yml:6:15 error config-invalid-value: "sources.f.tables.t.file" must be the path or URL of a .csv, .tsv, .json, .ndjson, .parquet or .xlsx file, or a pattern
        hint: ${hint}
        failed: 0 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  })),
]
