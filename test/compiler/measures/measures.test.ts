import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { aggregates } from '../../../src/compiler/measures/aggregates.ts'
import { compile } from '../../../src/compiler/compile.ts'
import { parseModelName } from '../../../src/core/names.ts'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'

test('the list of aggregates is that of the engine, but for functions that need a window', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const rows = await connection.rows(sql`
    SELECT DISTINCT function_name AS name FROM duckdb_functions()
    WHERE internal AND function_type = 'aggregate' ORDER BY name`)
  const windows = [
    'cume_dist',
    'dense_rank',
    'fill',
    'first_value',
    'lag',
    'last_value',
    'lead',
    'nth_value',
    'ntile',
    'percent_rank',
    'rank',
    'rank_dense',
    'row_number',
  ]
  const found = rows.map(({ name }) => name as string)
  assert.equal(
    [...aggregates].toSorted(),
    found.filter((name) => !windows.includes(name)),
  )
})

async function measuresOf(...lines: readonly string[]) {
  const text = [
    ...lines.map((line) => `-- @measure ${line}`),
    "SELECT 1.5 AS amount, 2 AS qty, 'a' AS state",
  ].join('\n')
  const model = { name: parseModelName('a.t')!, source: { path: 'models/a/t.sql', text } }
  const { models } = await compile(
    { models: [model], seeds: [], macros: [] },
    { dir: import.meta.dirname },
  )
  return [...models.values()][0]!.meaning!.measures
}

test('a measure is its text with conditions, averages, divisions and other measures written out', async () => {
  const measures = await measuresOf(
    "paid: sum(amount) where state = 'paid' -- said of it",
    'share: paid / sum(amount)',
    "price: avg(amount / qty) where state <> 'x'",
    'deep: round(sum(amount) / (count(*) / min(qty)) ^ 2, 1)',
    'signed: sum(qty) / -count(*)::DOUBLE + CASE WHEN count(*) > 1 THEN 1 ELSE 0 END',
    'whole: sum(qty) // count(*)',
  )
  assert.equal(
    measures.map((one) => one.sql.replaceAll(/\s+/g, ' ')),
    [
      "sum(amount) FILTER (WHERE state = 'paid')",
      "(sum(amount) FILTER (WHERE state = 'paid')) / nullif(sum(amount), 0)",
      "(sum(amount / nullif(qty, 0)) FILTER (WHERE state <> 'x') / nullif(count(amount / nullif(qty, 0)) FILTER (WHERE state <> 'x'), 0))",
      'round(sum(amount) / nullif((count(*) / nullif(min(qty), 0)) ^ 2, 0), 1)',
      'sum(qty) / nullif(-count(*)::DOUBLE, 0) + CASE WHEN count(*) > 1 THEN 1 ELSE 0 END',
      'sum(qty) // count(*)',
    ],
  )
  assert.equal(
    measures.map(({ name, type, columns }) => [name, type, columns.join()]),
    [
      ['paid', 'DECIMAL(38,1)', 'amount,state'],
      ['share', 'DOUBLE', 'amount,state'],
      ['price', 'DOUBLE', 'amount,qty,state'],
      ['deep', 'DOUBLE', 'amount,qty'],
      ['signed', 'DOUBLE', 'qty'],
      ['whole', 'DECIMAL(38,0)', 'qty'],
    ],
  )
})

test.run()
