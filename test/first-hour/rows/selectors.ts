// Selectors of models, and queries on the warehouse.

import type { Mistake } from '../mistake.ts'

const run = ['run']

export const rows: readonly Mistake[] = [
  {
    id: 'h-nope',
    mistake: 'a schema that is not there',
    ask: { eider: ['run', 'nope.*'] },
    answer: `
      error: no model matches "nope.*"
      hint: the schemas are core, mart, raw, ref, staging`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'l04',
    mistake: 'a selector of an unknown sort',
    ask: { eider: ['ls', 'nonsense:x'] },
    answer: `
      error: no model matches "nonsense:x"
      hint: there is no "nonsense:"; a selector is a name, schema.*, tag:, kind:, source: or state:modified`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'dbt-10',
    mistake: 'a model by the last part of its name',
    ask: { eider: ['run', 'country_sales'] },
    answer: `
      error: no model matches "country_sales"
      hint: did you mean "mart.country_sales"?`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'dbt-10-path',
    mistake: 'a model by its file',
    ask: { eider: ['ls', '-s', 'models/staging/orders.sql'] },
    answer: `
      error: no model matches "models/staging/orders.sql"
      hint: did you mean "staging.orders"?`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'dbt-10-show',
    mistake: 'show a model by the last part of its name',
    ask: { eider: ['show', 'country_sales'] },
    answer: `
      error: there is no model or entity set "country_sales"
      hint: did you mean "mart.country_sales"?`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'dbt-11',
    mistake: 'path: of dbt',
    ask: { eider: ['ls', '-s', 'path:models/core'] },
    answer: `
      error: no model matches "path:models/core"
      hint: there is no "path:"; a selector is a name, schema.*, tag:, kind:, source: or state:modified`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'dbt-11-result',
    mistake: 'result: of dbt',
    ask: { eider: ['ls', '-s', 'result:error'] },
    answer: `
      error: no model matches "result:error"
      hint: there is no "result:"; a selector is a name, schema.*, tag:, kind:, source: or state:modified`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'dbt-11-depth',
    mistake: 'a depth of dbt',
    ask: { eider: ['ls', '-s', '1+core.orders'] },
    answer: `
      error: no model matches "1+core.orders"
      hint: write +NAME for all that a model reads, NAME+ for all that reads it; there is no depth`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'dbt-11-at',
    mistake: '@ of dbt',
    ask: { eider: ['ls', '-s', '@core.orders'] },
    answer: `
      error: no model matches "@core.orders"
      hint: write +NAME for all that a model reads, NAME+ for all that reads it; there is no depth`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'dbt-31',
    mistake: '--start for a merge model',
    ask: {
      eider: ['run', '--start', '2026-01-01', '--end', '2026-02-01', '-s', 'core.orders'],
      after: [run],
    },
    answer: `
      error: --start and --end replace rows of models that read a part of their input, and none is selected
      hint: the project has no append or period model and no merge with @incremental; others read all of their input in each run`,
    grade: 'A',
  },
  {
    id: 'dbt-32',
    mistake: 'a misspelt table in query',
    ask: { eider: ['query', 'FROM mart.country_sale'], after: [run] },
    answer: `
      query:1:6 error sql-binding: Table with name country_sale does not exist
      hint: did you mean "mart.country_sales"?
      1 error`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd10a',
    mistake: 'query SHOW TABLES',
    ask: { eider: ['query', 'SHOW TABLES'], after: [run] },
    answer: `
      name
      ------------------
      core.orders
      mart.country_sales
      raw.orders
      ref.countries
      staging.orders`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'd10a-describe',
    mistake: 'query DESCRIBE',
    ask: { eider: ['query', 'DESCRIBE core.orders'], after: [run] },
    answer: `
      column_name column_type null key default extra
      ----------- ------------------------ ---- ---- ------- -----
      order_id INTEGER YES NULL NULL NULL
      country_id VARCHAR YES NULL NULL NULL
      status VARCHAR YES NULL NULL NULL
      amount DECIMAL(10,2) YES NULL NULL NULL
      changed_at TIMESTAMP WITH TIME ZONE YES NULL NULL NULL`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'd10b-file',
    mistake: 'a query in a file',
    files: { 'q.sql': 'SELECT 1 AS a' },
    ask: { eider: ['query', '--file', 'q.sql'], after: [run] },
    answer: `
      a
      -
      1`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'd10d',
    mistake: 'a query that changes the warehouse',
    ask: { eider: ['query', 'DROP TABLE core.orders'], after: [run] },
    answer: `
      error: a query must be a single SELECT, SHOW, DESCRIBE or SUMMARIZE
      hint: only a run changes the warehouse`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'd10b',
    mistake: 'an empty query',
    ask: { eider: ['query', ''] },
    answer: `
      error: a query must be a single SELECT, SHOW, DESCRIBE or SUMMARIZE
      hint: only a run changes the warehouse`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'd10c',
    mistake: 'a mistake in the SQL of a query',
    ask: { eider: ['query', 'SELECT ordr_id FROM core.orders'], after: [run] },
    answer: `
      query:1:8 error sql-binding: no column "ordr_id"
      hint: did you mean "order_id"?
      1 error`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd10-unbuilt',
    mistake: 'a query of a model that was never built',
    ask: {
      eider: ['query', 'FROM mart.later'],
      after: [run, { 'models/mart/later.sql': 'SELECT 1 AS a' }],
    },
    answer: `
      query:1:6 error sql-binding: Table with name later does not exist
      hint: mart.later is not built yet: eider run +mart.later
      1 error`,
    exitCode: 1,
    grade: 'A',
  },
]
