// Models in the second week: keys, checks, lengths of time, SQL of other databases.

import type { Mistake } from '../mistake.ts'

export const rows: readonly Mistake[] = [
  {
    id: 'wb01',
    mistake: 'uuid() as the key',
    files: { 'models/core/a.sql': '-- @expose id\nSELECT uuid() AS id, status FROM raw.orders\n' },
    answer: `
      models/core/a.sql:2:8 warning unstable-key: the key "id" is uuid(), which gives a row another value in each build: links of clients and changes since a state cannot find it
      hint: make it of columns that say what a row is, such as md5(concat_ws('|', a, b))`,
    grade: 'A',
  },
  {
    id: 'wb02',
    mistake: 'row_number() without an order as the key',
    files: {
      'models/core/a.sql':
        '-- @kind: merge\n-- @unique_key: id\nSELECT row_number() OVER () AS id, status FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:3:8 warning unstable-key: the key "id" is row_number(), which gives a row another value in each build: links of clients and changes since a state cannot find it
      hint: say the order, by columns that no two rows share: OVER (ORDER BY …)`,
    grade: 'A',
  },
  {
    id: 'wb03',
    mistake: 'a very long column',
    files: {
      'models/core/a.sql': `-- @expose order_id\nSELECT order_id, 2 AS ${'a'.repeat(300)} FROM raw.orders\n`,
    },
    answer: `
      models/core/a.sql:2:18 error exposed-name: the column "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…" cannot be exposed: it has 300 characters, and a name in OData has 128 at most
      hint: write AS column_2 after it`,
    grade: 'A',
  },
  {
    id: 'wb04',
    mistake: 'a very long name of a file',
    files: { [`models/core/${'a'.repeat(200)}.sql`]: '-- @expose id\nSELECT 1 AS id\n' },
    answer: `
      models/core/${'a'.repeat(200)}.sql:1:4 error exposed-name: the entity set "core_aaaaaaaaaaaaaaaaaaaaaaaaa…" cannot be exposed: it has 205 characters, and a name in OData has 128 at most
      hint: give the file a shorter name`,
    grade: 'A',
  },
  {
    id: 'wb05',
    mistake: 'a check without its parenthesis',
    files: {
      'models/core/a.sql': '-- @check: unique(order_id\nSELECT order_id, status FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:1:27 error annotation-syntax: annotation not understood: expected a condition in SQL, or not_null(a, b), unique(a, b), accepted(a, 'x', 'y'), references(a, schema.model.column), row_count(> 0)`,
    grade: 'B',
  },
  {
    id: 'wb06',
    mistake: 'not null in two words',
    files: {
      'models/core/a.sql':
        '-- @check: not null(order_id)\nSELECT order_id, status FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:1:20 error sql-syntax: syntax error at or near "("
      hint: a check for this is not_null(column), a condition column IS NOT NULL`,
    grade: 'A',
  },
  {
    id: 'wb07',
    mistake: 'a check over two columns by and',
    files: {
      'models/core/a.sql':
        '-- @check: unique(order_id and status)\nSELECT order_id, status FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:1:28 error annotation-syntax: annotation not understood: expected a condition in SQL, or not_null(a, b), unique(a, b), accepted(a, 'x', 'y'), references(a, schema.model.column), row_count(> 0)`,
    grade: 'A',
  },
  {
    id: 'wb08',
    mistake: '90d',
    files: {
      'models/core/a.sql':
        '-- @kind: append\n-- @incremental: received_at\n-- @keep: 90d\nSELECT order_id, received_at FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:3:13 error annotation-syntax: annotation not understood: expected an age (hour to year), such as "90 days", optionally followed by "of <column>"
      hint: write -- @keep: 90 days`,
    grade: 'A',
  },
  {
    id: 'wb09',
    mistake: '5m as a freshness',
    files: {
      'models/core/a.sql':
        '-- @expose order_id\n-- @fresh: 5m\nSELECT order_id, status FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:2:13 error annotation-syntax: annotation not understood: expected a time, such as "<time>", "5 minutes" or "1 day"
      hint: write -- @fresh: 5 minutes`,
    grade: 'A',
  },
  {
    id: 'wb10',
    mistake: '3d as a lookback',
    files: {
      'models/core/a.sql':
        '-- @kind: append\n-- @incremental: received_at lookback 3d\nSELECT order_id, received_at FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:2:40 error annotation-syntax: annotation not understood: expected a column, optionally followed by "lookback 1 hour" (second to year, or a plain number)
      hint: write -- @incremental: received_at lookback 3 days`,
    grade: 'A',
  },
  {
    id: 'wb11',
    mistake: 'a period in a word',
    files: {
      'models/core/a.sql':
        '-- @kind: period\n-- @period: daily\nSELECT received_at::DATE AS day, count(*) AS n FROM raw.orders GROUP BY 1\n',
    },
    answer: `
      models/core/a.sql:2:13 error annotation-syntax: annotation not understood: expected a unit (hour, day, week, month, quarter, year, or a number of whole numbers), "of" and a column, optionally followed by "lookback 3 days"`,
    grade: 'A',
  },
  {
    id: 'wb12',
    mistake: 'a measure without a colon',
    files: {
      'models/core/a.sql':
        '-- @expose order_id\n-- @measure revenue sum(order_id)\nSELECT order_id, status FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:2:21 error annotation-syntax: annotation not understood: expected <name>: <aggregates or other measures>, optionally followed by "where" and a condition`,
    grade: 'B',
  },
  {
    id: 'wb13',
    mistake: 'a measure that is no aggregate',
    files: {
      'models/core/a.sql':
        '-- @expose order_id\n-- @measure revenue: order_id\nSELECT order_id, status FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:2:22 error invalid-measure: "order_id" stands outside of an aggregate: it has a value in each row, and a measure has one for many rows
      hint: aggregate it, such as sum(order_id)`,
    grade: 'A',
  },
  {
    id: 'wb14',
    mistake: 'a unit of a column that is not there',
    files: {
      'models/core/a.sql':
        '-- @expose order_id\n-- @unit amount: EUR\nSELECT order_id, status FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:2:10 error unknown-key-column: "@unit" names "amount", which is not a column of this model
      hint: the columns are order_id, status`,
    grade: 'A',
  },
  {
    id: 'wb15',
    mistake: 'two key columns by and',
    files: {
      'models/core/a.sql':
        '-- @expose order_id and status\nSELECT order_id, status FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:1:21 error annotation-syntax: annotation not understood: expected nothing, or the columns of the key, separated by commas`,
    grade: 'A',
  },
  {
    id: 'wb16',
    mistake: 'a model in no folder',
    files: { 'models/a.sql': 'SELECT 1 AS id\n' },
    answer: `
      models/a.sql:1:1 error invalid-model-path: the path does not name a model: expected models/<schema>/<name>.sql
      hint: put it into a folder, such as models/core/a.sql`,
    grade: 'A',
  },
  {
    id: 'wb17',
    mistake: 'a model two folders deep',
    files: { 'models/core/eu/a.sql': 'SELECT 1 AS id\n' },
    answer: `
      models/core/eu/a.sql:1:1 error invalid-model-path: the path does not name a model: expected models/<schema>/<name>.sql
      hint: join the folders into one name: models/core_eu/a.sql`,
    grade: 'A',
  },
  {
    id: 'wb18',
    mistake: 'a blank in the name of a file',
    files: { 'models/core/my orders.sql': 'SELECT 1 AS id\n' },
    answer: `
`,
    grade: 'A',
  },
  {
    id: 'wb19',
    mistake: 'a workbook as a seed',
    files: { 'seeds/core/a.xlsx': 'PK' },
    answer: `
      seeds/core/a.xlsx:1:1 error invalid-model-path: the path does not name a model: expected seeds/<schema>/<name>.csv, .tsv, .json, .jsonl, .ndjson, .parquet
      hint: save the sheet as CSV`,
    grade: 'A',
  },
  {
    id: 'wb20',
    mistake: 'a table by its last part',
    files: { 'models/core/a.sql': 'SELECT * FROM orders\n' },
    answer: `
      models/core/a.sql:1:15 error unknown-model: no model "orders"
      hint: did you mean "staging.orders"?`,
    grade: 'A',
  },
  {
    id: 'wb21',
    mistake: 'TOP of SQL Server',
    files: { 'models/core/a.sql': 'SELECT TOP 10 order_id FROM raw.orders\n' },
    answer: `
      models/core/a.sql:1:12 error sql-syntax: syntax error at or near "10"
      hint: write LIMIT 10 at the end`,
    grade: 'A',
  },
  {
    id: 'wb22',
    mistake: 'LIMIT with a comma of MySQL',
    files: { 'models/core/a.sql': 'SELECT order_id FROM raw.orders LIMIT 10, 20\n' },
    answer: `
      models/core/a.sql:1:1 error sql-syntax: DuckDB does not have this form of the clause
      hint: write LIMIT 20 OFFSET 10`,
    grade: 'A',
  },
  {
    id: 'wb23',
    mistake: 'a semicolon and a second SELECT',
    files: { 'models/core/a.sql': 'SELECT 1 AS id; SELECT 2 AS id\n' },
    answer: `
      models/core/a.sql:1:17 error not-a-select: a model is one SELECT statement
      hint: nothing may follow the semicolon`,
    grade: 'A',
  },
  {
    id: 'wb24',
    mistake: 'CREATE TABLE AS',
    files: { 'models/core/a.sql': 'CREATE TABLE core.a AS SELECT 1 AS id\n' },
    answer: `
      models/core/a.sql:1:1 error not-a-select: a model is one SELECT statement
      hint: write only the SELECT; eider creates core.a`,
    grade: 'A',
  },
  {
    id: 'wb25',
    mistake: 'an accented quote of a word processor',
    files: { 'models/core/a.sql': 'SELECT ‘a’ AS x\n' },
    answer: `
      models/core/a.sql:1:8 error sql-binding: ‘ is a typographic quote
      hint: type straight quotes: 'a'`,
    grade: 'A',
  },
  {
    id: 'wb26',
    mistake: 'a column of another table that is not joined',
    files: { 'models/core/a.sql': 'SELECT c.name FROM raw.orders o\n' },
    answer: `
      models/core/a.sql:1:8 error sql-binding: Referenced table "c" not found
      hint: available here: o`,
    grade: 'A',
  },
  {
    id: 'wb27',
    mistake: 'an aggregate without GROUP BY',
    files: { 'models/core/a.sql': 'SELECT status, count(*) AS n FROM raw.orders\n' },
    answer: `
      models/core/a.sql:1:8 error sql-binding: column "status" must appear in the GROUP BY clause or must be part of an aggregate function. Either add it to the GROUP BY list, or use "ANY_VALUE(status)" if the exact value of "status" is not important.`,
    grade: 'A',
  },
  {
    id: 'wb28',
    mistake: 'a window in WHERE',
    files: {
      'models/core/a.sql': 'SELECT order_id FROM raw.orders WHERE row_number() OVER () = 1\n',
    },
    answer: `
      models/core/a.sql:1:39 error sql-binding: WHERE clause cannot contain window functions
      hint: filter by a window function with QUALIFY instead of WHERE`,
    grade: 'A',
  },
  {
    id: 'wb29',
    mistake: 'now() as a column of a table',
    files: {
      'models/core/a.sql': '-- @expose order_id\nSELECT order_id, now() AS at FROM raw.orders\n',
    },
    answer: `
`,
    grade: 'A',
  },
  {
    id: 'wb30',
    mistake: 'a rename of itself',
    files: {
      'models/core/a.sql':
        '-- @kind: append\n-- @incremental: received_at\n-- @renamed_from a: a\nSELECT order_id AS a, received_at FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:3:21 error invalid-rename: "a" and "a" are one name: case does not distinguish columns
      hint: delete the line; the table keeps its column`,
    grade: 'A',
  },
  {
    id: 'wb31',
    mistake: 'a period in capitals',
    files: {
      'models/core/a.sql':
        '-- @kind: period\n-- @period: Day OF Changed_At LOOKBACK 1 Days\nSELECT changed_at, status FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:2:13 error annotation-syntax: annotation not understood: expected a unit (hour, day, week, month, quarter, year, or a number of whole numbers), "of" and a column, optionally followed by "lookback 3 days"
      hint: its words are in lower case: -- @period: day of changed_at lookback 1 days`,
    grade: 'A',
  },
  {
    id: 'wb31-keep',
    mistake: 'an age in capitals',
    files: {
      'models/core/a.sql':
        '-- @kind: append\n-- @incremental: received_at\n-- @keep: 90 Days\nSELECT received_at, status FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:3:14 error annotation-syntax: annotation not understood: expected an age (hour to year), such as "90 days", optionally followed by "of <column>"
      hint: its words are in lower case: -- @keep: 90 days`,
    grade: 'A',
  },
  {
    id: 'wb32',
    mistake: 'a history that compares its key',
    files: {
      'models/core/a.sql':
        '-- @kind: scd2\n-- @unique_key: order_id\n-- @compare: order_id\nSELECT order_id, status FROM raw.orders\n',
    },
    answer: `
      models/core/a.sql:3:14 warning compared-key: "@compare" names only the key (order_id), which is the same in all versions of a row: no change of another column makes a new one
      hint: name columns whose changes count, or leave @compare out: then all of them do`,
    grade: 'A',
  },
]
