// What lies in .eider and around it: deleted, damaged, in the way, out of reach.

import { two } from '../line.ts'
import type { Mistake } from '../mistake.ts'

const run = ['run']
const garbage = { '.eider/warehouse.duckdb': 'this is no database' }

export const rows: readonly Mistake[] = [
  {
    id: 'b12',
    mistake: 'a memory_limit that nothing can be done in',
    files: { 'eider.yml': 'name: shop\nmemory_limit: 1MB\n' },
    ask: { eider: run },
    answer: `
      error: the run needs more memory than memory_limit allows (1MB)
      hint: raise memory_limit in eider.yml; 256MB is a sensible minimum`,
    among: true,
    exitCode: 3,
    grade: 'A',
  },
  {
    id: 'b27',
    mistake: '.eider cannot be written',
    ask: { eider: run, after: [run], writeProtected: ['.eider'] },
    answer: `
      error: .eider cannot be written by user <user>
      hint: chmod u+rwX .eider; "eider doctor" lists such files`,
    exitCode: 3,
    grade: 'A',
  },
  {
    id: 'b29',
    mistake: 'the project cannot be written',
    ask: { eider: run, writeProtected: ['.'] },
    answer: `
      error: <project> cannot be written by user <user>
      hint: chmod u+rwX <project>; "eider doctor" lists such files`,
    exitCode: 3,
    grade: 'A',
  },
  {
    id: 'd06',
    mistake: 'target/ cannot be written',
    ask: { eider: run, after: [run], writeProtected: ['target'] },
    answer: `
      error: target cannot be written by user <user>
      hint: chmod u+rwX target; "eider doctor" lists such files`,
    exitCode: 3,
    grade: 'A',
  },
  {
    id: 'b30',
    mistake: 'the warehouse deleted, its snapshots left',
    ask: { eider: run, after: [run, { '.eider/warehouse.duckdb': null }] },
    answer: `
      error: the warehouse <project>/.eider/warehouse.duckdb is gone, and snapshot <id> serves 5 rows of it
      hint: restore it from a backup; --allow-empty starts without the events that were flushed, and without history`,
    exitCode: 3,
    grade: 'A',
  },
  {
    id: 'b31',
    mistake: '.eider deleted',
    ask: { eider: run, after: [run, { '.eider': null }] },
    answer: `5 built, published <id> in <time>`,
    among: true,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'b32',
    mistake: 'the snapshots deleted',
    ask: { eider: run, after: [run, { '.eider/snapshots': null }] },
    answer: `5 unchanged, published <id> in <time>`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'b33',
    mistake: 'a warehouse of garbage',
    ask: { eider: run, after: [run, garbage] },
    answer: `
      error: the warehouse <project>/.eider/warehouse.duckdb is damaged: IO Error: The file "<project>/.eider/warehouse.duckdb" exists, but it is not a valid DuckDB database file!
      hint: restore it from a backup, or move it away (with its .wal file) and run again with --allow-empty: models are rebuilt, flushed events are only in that file`,
    exitCode: 3,
    grade: 'A',
  },
  {
    id: 'b34',
    mistake: 'a warehouse of garbage, and ls',
    ask: { eider: ['ls'], after: [run, garbage] },
    answer: `
      error: the warehouse <project>/.eider/warehouse.duckdb is damaged: IO Error: The file "<project>/.eider/warehouse.duckdb" exists, but it is not a valid DuckDB database file!
      hint: restore it from a backup, or move it away (with its .wal file) and run again with --allow-empty: models are rebuilt, flushed events are only in that file`,
    grade: 'A',
  },
  {
    id: 'f01',
    mistake: 'one model of many has a mistake',
    files: two('SELECT ordr_id FROM core.orders'),
    ask: { eider: run },
    answer: `
      models/mart/two.sql:1:8 error sql-binding: no column "ordr_id"
      hint: did you mean "order_id"?
      1 failed, 5 built, published <id> in <time> eider run --retry`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'f01-show',
    mistake: 'one model of many has a mistake, and show another',
    files: two('SELECT ordr_id FROM core.orders'),
    ask: { eider: ['show', 'ref.countries'] },
    answer: `
      ref.countries seed seeds/ref/countries.csv
      reads seeds/ref/countries.csv
      read by mart.country_sales
      name type nullable
      ---------- ------- --------
      country_id VARCHAR true
      name VARCHAR true`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'd09c',
    mistake: 'run in a project without models',
    files: {
      'models/raw/orders.sql': null,
      'models/staging/orders.sql': null,
      'models/core/orders.sql': null,
      'models/mart/country_sales.sql': null,
      'seeds/ref/countries.csv': null,
    },
    ask: { eider: run },
    answer: `no models, published <id> in <time> a model is a SELECT in a file models/<schema>/<name>.sql`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'c03',
    mistake: 'serve before the first run',
    ask: { eider: ['odata', 'preview', 'core_orders'] },
    answer: `
      error: core.orders is not in the warehouse yet
      hint: build it: eider run +core.orders`,
    grade: 'A',
  },
  {
    id: 'd10-never',
    mistake: 'query before the first run',
    ask: { eider: ['query', 'FROM core.orders'] },
    answer: `
      query:1:6 error sql-binding: Table with name "core.orders" does not exist because schema "core" does not exist.
      hint: nothing is built yet: "eider run" builds the models
      1 error`,
    exitCode: 1,
    grade: 'A',
  },
]
