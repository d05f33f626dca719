// Columns, kinds and names that change between two runs, and checks and casts that fail on the rows of a run.

import { two } from '../line.ts'
import type { Mistake } from '../mistake.ts'

/** Changes of orders as a model that needs no daemon. */
const orders = {
  'models/raw/orders.sql': null,
  'models/staging/orders.sql': `SELECT * FROM (VALUES
  (1, 'NO', 'paid', 10.00::DECIMAL(10,2), '2026-01-01'::TIMESTAMPTZ),
  (2, 'SE', 'open', 20.00::DECIMAL(10,2), '2026-01-02'::TIMESTAMPTZ)
) AS t(order_id, country_id, status, amount, changed_at)`,
}
const core = (select: string, kind = 'merge') => ({
  'models/core/orders.sql': `-- @kind: ${kind}\n${kind === 'merge' ? '-- @unique_key: order_id\n' : ''}-- @expose order_id\n${select}`,
})
const run = ['run']
const select = 'SELECT order_id, country_id, status, amount, changed_at FROM staging.orders'

export const rows: readonly Mistake[] = [
  {
    id: 'a10',
    mistake: 'a cast that fails on the data',
    files: {
      ...orders,
      ...two('SELECT\n  order_id,\n  CAST(country_id AS INTEGER) AS country\nFROM core.orders'),
    },
    ask: { eider: run },
    answer: `
      models/mart/two.sql:3:3 error mart.two: 'NO' is not an INTEGER (column country_id)
      hint: TRY_CAST gives NULL where a value does not fit
      1 failed, 4 built, published <id> in <time> eider run --retry`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'a10-select',
    mistake: 'a cast of a result that fails on the data',
    files: {
      ...orders,
      ...two("SELECT order_id, strptime(status, '%Y') AS year FROM core.orders"),
    },
    ask: { eider: run },
    answer: `
      models/mart/two.sql:1:18 error mart.two: Could not parse string "paid" according to format specifier "%Y"
      hint: try_strptime gives NULL where a string does not fit
      1 failed, 4 built, published <id> in <time> eider run --retry`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd14a',
    mistake: 'a number that is too large',
    files: {
      ...orders,
      ...two('SELECT\n  order_id,\n  order_id::TINYINT * 100::TINYINT AS many\nFROM core.orders'),
    },
    ask: { eider: run },
    answer: `
      models/mart/two.sql:3:21 error mart.two: Overflow in multiplication of INT8 (2 * 100)!
      hint: cast one side to a wider type, such as BIGINT or HUGEINT
      1 failed, 4 built, published <id> in <time> eider run --retry`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd14a-sum',
    mistake: 'a sum that is too large',
    files: {
      ...orders,
      ...two('SELECT\n  (order_id * 2000000000)::INTEGER AS many\nFROM core.orders'),
    },
    ask: { eider: run },
    answer: `
      models/mart/two.sql:2:13 error mart.two: Overflow in multiplication of INT32 (2 * 2000000000)!
      hint: cast one side to a wider type, such as BIGINT or HUGEINT
      1 failed, 4 built, published <id> in <time> eider run --retry`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd14a-error',
    mistake: 'error() in a model',
    files: { ...orders, ...two("SELECT order_id, error('no') AS e FROM core.orders") },
    ask: { eider: run },
    answer: `
      models/mart/two.sql:1:18 error mart.two: no
      1 failed, 4 built, published <id> in <time> eider run --retry`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd14b',
    mistake: 'a DECIMAL that is too small',
    files: {
      ...orders,
      ...two('SELECT\n  order_id,\n  (amount * 1000)::DECIMAL(5,2) AS a\nFROM core.orders'),
    },
    ask: { eider: run },
    answer: `
      models/mart/two.sql:3:18 error mart.two: Casting value "10000.00" to type DECIMAL(5,2) failed: value is out of range!
      hint: TRY_CAST gives NULL where a value does not fit
      1 failed, 4 built, published <id> in <time> eider run --retry`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'b49',
    mistake: 'a check that does not hold',
    files: {
      ...orders,
      ...two(
        "-- @check: country_id <> 'NO'\n-- @expose order_id\nSELECT order_id, country_id FROM core.orders",
      ),
    },
    ask: { eider: run },
    answer: `
      models/mart/two.sql:1:4 error mart.two: country_id <> 'NO' does not hold for 1 row: {'order_id': 1, 'country_id': NO}
      1 failed, 4 built, published <id> in <time> eider run --retry`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'b38',
    mistake: 'an exposed column renamed',
    files: orders,
    ask: {
      eider: run,
      after: [
        {
          'models/mart/country_sales.sql':
            '-- @expose country_id\nSELECT country_id, name AS title FROM ref.countries',
        },
        run,
        {
          'models/mart/country_sales.sql':
            '-- @expose country_id\nSELECT country_id, name FROM ref.countries',
        },
      ],
    },
    answer: `
      models/mart/country_sales.sql:1:4 error mart.country_sales: clients of mart_country_sales would break, so it stays as it was published: property title removed; if they are ready: eider run --accept mart.country_sales, or eider plan --accept mart.country_sales for the next run
      built mart.country_sales 5 rows, <time> (definition changed)
      failed mart.country_sales models/mart/country_sales.sql:1:4: clients of mart_country_sales would break, so it stays as it was published: property title removed; if they are ready: eider run --accept mart.country_sales, or eider plan --accept mart.country_sales for the next run
      1 failed, 3 unchanged in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'b39',
    mistake: 'a column renamed that another model reads',
    files: {
      ...orders,
      ...core('SELECT order_id AS id, country_id, status, amount, changed_at FROM staging.orders'),
    },
    answer: `
      models/core/orders.sql:2:17 error unknown-key-column: "@unique_key" names "order_id", which is not a column of this model
      hint: the columns are id, country_id, status, amount, changed_at
      models/core/orders.sql:3:12 error unknown-key-column: "@expose" names "order_id", which is not a column of this model
      hint: the columns are id, country_id, status, amount, changed_at
      models/mart/country_sales.sql:8:9 error sql-binding: Table "orders" does not have a column named "order_id"
      hint: available here: id`,
    grade: 'A',
  },
  {
    id: 'b40',
    mistake: 'a type of a merge model narrowed',
    files: orders,
    ask: {
      eider: ['plan'],
      after: [
        run,
        core(
          'SELECT order_id, country_id, status, amount::INTEGER AS amount, changed_at\nFROM staging.orders',
        ),
      ],
    },
    answer: `
      fails core.orders models/core/orders.sql:4:38: column "amount" cannot change from DECIMAL(10,2) to INTEGER without losing values; to keep the rows, take a type that holds both: CAST(amount AS DECIMAL(12,2)); otherwise rebuild the table: eider run core.orders --full-refresh
      ~ amount DECIMAL(10,2) -> INTEGER
      plan: 0 to build, 2 unchanged, 1 failing, 1 skipped`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'b40-run',
    mistake: 'a type of a merge model narrowed, and run',
    files: orders,
    ask: {
      eider: run,
      after: [
        run,
        core(
          'SELECT order_id, country_id, status, amount::INTEGER AS amount, changed_at\nFROM staging.orders',
        ),
      ],
    },
    answer: `
      models/core/orders.sql:4:38 error core.orders: column "amount" cannot change from DECIMAL(10,2) to INTEGER without losing values; to keep the rows, take a type that holds both: CAST(amount AS DECIMAL(12,2)); otherwise rebuild the table: eider run core.orders --full-refresh
      failed core.orders models/core/orders.sql:4:38: column "amount" cannot change from DECIMAL(10,2) to INTEGER without losing values; to keep the rows, take a type that holds both: CAST(amount AS DECIMAL(12,2)); otherwise rebuild the table: eider run core.orders --full-refresh
      skipped mart.country_sales core.orders failed
      1 failed, 1 skipped, 2 unchanged in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'b41',
    mistake: 'merge turned into table',
    files: orders,
    ask: { eider: run, after: [run, core(select, 'table')] },
    answer: `
      models/core/orders.sql:1:4 error core.orders: core.orders holds rows that its source may no longer have; as kind table it would lose them; to drop them: eider run core.orders --full-refresh
      failed core.orders models/core/orders.sql:1:4: core.orders holds rows that its source may no longer have; as kind table it would lose them; to drop them: eider run core.orders --full-refresh
      skipped mart.country_sales core.orders failed
      1 failed, 1 skipped, 2 unchanged in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'b42',
    mistake: 'a type of an events model changed',
    ask: {
      eider: run,
      after: [
        run,
        {
          'models/raw/orders.sql':
            '-- @kind: events\n\norder_id VARCHAR NOT NULL,\ncountry_id VARCHAR NOT NULL,\nstatus VARCHAR NOT NULL,\namount DECIMAL(10,2) NOT NULL,\nchanged_at TIMESTAMPTZ NOT NULL,\nreceived_at TIMESTAMPTZ',
        },
      ],
    },
    answer: `
      models/raw/orders.sql:3:10 error raw.orders: column "order_id" cannot change from INTEGER to VARCHAR without losing values; give the column another name, or keep its type
      1 failed, 3 skipped, 1 unchanged in <time> eider run --retry`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'b44',
    mistake: 'duplicate keys of a merge',
    files: {
      ...orders,
      ...core('SELECT 1 AS order_id, country_id, status, amount, changed_at FROM staging.orders'),
    },
    ask: { eider: run },
    answer: `
      models/core/orders.sql:2:4 error core.orders: duplicate keys: order_id = 1 (2 rows); filter them in the SELECT, or keep one row of each key with @on_duplicate: latest(column)
      1 failed, 1 skipped, 2 built, published <id> in <time> eider run --retry`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'b45',
    mistake: 'duplicate keys of @expose',
    files: {
      ...orders,
      ...core(
        'SELECT 1 AS order_id, country_id, status, amount, changed_at FROM staging.orders',
        'table',
      ),
    },
    ask: { eider: run },
    answer: `
      models/core/orders.sql:2:4 error core.orders: duplicate keys: order_id = 1 (2 rows); expose a key that is unique for each row, or none: @expose
      1 failed, 1 skipped, 2 built, published <id> in <time> eider run --retry`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'b46',
    mistake: 'an exposed column without a name',
    files: two('-- @expose order_id\nSELECT order_id, amount * 2 FROM core.orders'),
    answer: `
      models/mart/two.sql:2:18 error exposed-unnamed-column: the column "(amount * 2)" is an expression without a name, and cannot be exposed
      hint: write AS amount_2 after it`,
    grade: 'A',
  },
  {
    id: 'b36',
    mistake: 'a model moved, its readers not',
    files: orders,
    ask: {
      eider: run,
      after: [
        run,
        {
          'models/core/orders.sql': null,
          'models/core/purchases.sql': core(select)['models/core/orders.sql'],
        },
      ],
    },
    answer: `
      models/mart/country_sales.sql:11:11 error unknown-model: no model "core.orders"
      hint: in core there are core.purchases
      breaking core_orders entity set removed
      breaking mart_country_sales navigation core_orders removed
      orphan core.orders 2 rows, and no file defines it: core.purchases has the same SQL, and eider mv core.orders core.purchases --replace gives it these rows, eider drop core.orders removes it
      1 failed, 1 built, 2 unchanged, published <id> in <time> eider run --retry`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'b37',
    mistake: 'a merge model moved, its readers too',
    files: { ...orders, 'models/mart/country_sales.sql': null },
    ask: {
      eider: run,
      after: [
        run,
        {
          'models/core/orders.sql': null,
          'models/core/purchases.sql': core(select)['models/core/orders.sql'],
        },
      ],
    },
    answer: `
      built core.purchases 2 rows, <time> (first build)
      breaking core_orders entity set removed
      orphan core.orders 2 rows, and no file defines it: core.purchases has the same SQL, and eider mv core.orders core.purchases --replace gives it these rows, eider drop core.orders removes it
      1 built, 2 unchanged, published <id> in <time>`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'd08',
    mistake: 'a model removed',
    files: orders,
    ask: { eider: run, after: [run, { 'models/mart/country_sales.sql': null }] },
    answer: `
      breaking mart_country_sales entity set removed
      breaking core_orders navigation country removed
      orphan mart.country_sales 5 rows, and no file defines it: eider mv mart.country_sales NEW keeps it as the model NEW, eider drop mart.country_sales removes it
      3 unchanged, published <id> in <time>`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'd07',
    mistake: 'models/ is gone',
    files: orders,
    ask: { eider: run, after: [run, { models: null }] },
    answer: `
      error: the project has no model with @expose, and snapshot <id> serves 2 sets
      hint: is this the right directory, with its models/? --allow-empty publishes nothing`,
    exitCode: 3,
    grade: 'A',
  },
  {
    id: 'e02',
    mistake: '--full-refresh of everything',
    files: orders,
    ask: { eider: ['run', '--full-refresh'], after: [run] },
    answer: `
      error: --full-refresh would end the history of core.orders (2 rows, merge)
      hint: name the models that you mean: eider run core.orders --full-refresh; or add --drop-history`,
    exitCode: 2,
    grade: 'A',
  },
]
