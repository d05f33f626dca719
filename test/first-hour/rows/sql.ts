// The SQL of a model. Most rows are one SELECT from core.orders.

import { line, two } from '../line.ts'
import type { Mistake } from '../mistake.ts'

export const rows: readonly Mistake[] = [
  line(
    'a05',
    'a misspelt column',
    'SELECT ordr_id FROM core.orders',
    '1:8 error sql-binding: no column "ordr_id"',
    'did you mean "order_id"?',
  ),
  line(
    'a06',
    'a misspelt schema',
    'SELECT order_id FROM cor.orders',
    '1:22 error unknown-model: no model "cor.orders"',
    'did you mean "core.orders"?',
  ),
  line(
    'a07',
    'a table without its schema',
    'SELECT order_id FROM country_sales',
    '1:22 error unknown-model: no model "country_sales"',
    'did you mean "mart.country_sales"?',
  ),
  line(
    'a07-none',
    'a schema that is not there',
    'SELECT order_id FROM crm.customers',
    '1:22 error unknown-model: no model "crm.customers"',
    'the schemas are core, mart, raw, ref, staging; declare tables of other databases and files under sources in eider.yml',
  ),
  line(
    'a09',
    'a number plus a text',
    'SELECT order_id + country_id AS a FROM core.orders',
    '1:17 error sql-binding: "+" does not take INTEGER and VARCHAR',
    'cast one side, such as country_id::INTEGER',
  ),
  line(
    'a12',
    'a model that reads itself',
    'SELECT * FROM mart.two',
    '1:15 error dependency-cycle: mart.two reads itself',
    'a table that keeps its rows is @kind: append or @kind: merge, and does not read itself',
  ),
  line(
    'a15',
    'FORM for FROM',
    'SELECT *\nFORM core.orders',
    '2:6 error sql-syntax: syntax error at or near "core"',
    'did you mean FROM for "FORM"?',
  ),
  line(
    'a16',
    'a missing comma',
    'SELECT order_id\n  country_id\n  status\nFROM core.orders',
    '3:3 error sql-syntax: syntax error at or near "status"',
    'is a comma missing before country_id or status?',
  ),
  line(
    'a17',
    'one parenthesis too many',
    'SELECT (order_id)) AS a FROM core.orders',
    '1:18 error sql-syntax: syntax error at or near ")"',
  ),
  line(
    'a18',
    'an open quote',
    `SELECT 'a AS a FROM core.orders`,
    `1:8 error sql-syntax: unterminated quoted string at or near "'a AS a FROM core.orders"`,
    `end the text with a single quote; a quote inside it is doubled: 'it''s'`,
  ),
  line(
    'a19',
    'an empty file',
    '',
    '1:1 error empty-body: the file has no body: expected a SELECT',
    'such as SELECT … FROM schema.table',
  ),
  line(
    'a20',
    'annotations only',
    '-- @kind: view\n',
    '1:15 error empty-body: the file has no body: expected a SELECT',
    'such as SELECT … FROM schema.table',
  ),
  line(
    'a22',
    'two statements',
    'SELECT order_id FROM core.orders;\nSELECT 1 AS a',
    '2:1 error not-a-select: a model is one SELECT statement',
    'nothing may follow the semicolon',
  ),
  {
    id: 'a23',
    mistake: 'a semicolon at the end',
    files: two('SELECT order_id FROM core.orders;'),
    answer: '',
    grade: 'A',
  },
  line(
    'a24',
    'CREATE TABLE',
    'CREATE TABLE mart.two AS SELECT order_id FROM core.orders',
    '1:1 error not-a-select: a model is one SELECT statement',
    'write only the SELECT; eider creates mart.two',
  ),
  line(
    'a25',
    'INSERT INTO',
    'INSERT INTO mart.two SELECT order_id FROM core.orders',
    '1:1 error not-a-select: a model is one SELECT statement',
    'write only the SELECT; @kind: append or @kind: merge adds its rows',
  ),
  line(
    'a36',
    'a reserved word as a schema',
    'SELECT * FROM order.table',
    '1:15 error sql-syntax: syntax error at or near "order"',
    '"order" is a reserved word of SQL; quote it: "order"."table"',
  ),
  line(
    'd16a',
    'SELECT * without FROM',
    'SELECT *',
    '1:1 error sql-binding: * expression without FROM clause',
  ),
  line(
    'd16b',
    'an ambiguous column',
    'SELECT order_id FROM core.orders a JOIN core.orders b ON true',
    '1:8 error sql-binding: Ambiguous reference to column name "order_id" (use: "a.order_id" or "b.order_id")',
  ),
  line(
    'd16c',
    'a column that is missing in GROUP BY',
    'SELECT status, sum(amount) AS a FROM core.orders',
    '1:8 error sql-binding: column "status" must appear in the GROUP BY clause or must be part of an aggregate function. Either add it to the GROUP BY list, or use "ANY_VALUE(status)" if the exact value of "status" is not important.',
  ),
  line(
    'd16e',
    'a wrong alias',
    'SELECT o.order_id FROM core.orders x',
    '1:8 error sql-binding: Referenced table "o" not found',
    'available here: x',
  ),
  line(
    'd16g',
    'the unit behind the time',
    `SELECT date_trunc(changed_at, 'month') AS a FROM core.orders`,
    '1:8 error sql-binding: date_trunc does not take TIMESTAMP WITH TIME ZONE, VARCHAR',
    `the unit comes first: date_trunc('month', changed_at)`,
  ),
  line(
    'd16g-bare',
    'the unit without quotes',
    'SELECT date_trunc(month, changed_at) AS a FROM core.orders',
    '1:19 error sql-binding: no column "month"',
    `write the unit as text: 'month'`,
  ),
  line(
    'd16j',
    'text in double quotes',
    'SELECT order_id FROM core.orders WHERE status = "paid"',
    '1:49 error sql-binding: no column "paid"',
    `text goes in single quotes: 'paid'`,
  ),
  line(
    'd16k',
    'a UNION of one and two columns',
    'SELECT 1 AS a\nUNION ALL\nSELECT 1, 2',
    '3:8 error sql-binding: the SELECT on the left has 1 column, this one has 2 columns',
    'give both the same columns, or match them by name with UNION ALL BY NAME',
  ),
  line(
    'n01f',
    'a parameter',
    'SELECT order_id FROM core.orders WHERE order_id = ?',
    '1:51 error model-parameter: a model has no parameters',
    'write ${name}, and declare it under vars in eider.yml',
  ),
  line(
    'd13b',
    'a file over HTTP',
    `SELECT * FROM 'https://example.org/a.csv'`,
    '1:15 error sql-binding: a model reads files of this machine only, and this one is remote',
    'declare its URL under sources in eider.yml, and read it as source.table',
  ),
  line(
    'd13b-s3',
    'a file in S3',
    `SELECT * FROM read_parquet('s3://bucket/a.parquet')`,
    '1:15 error sql-binding: a model reads files of this machine only, and this one is remote',
    'declare its URL under sources in eider.yml, and read it as source.table',
  ),
  line(
    'a42',
    'conflict markers in the SELECT',
    'SELECT order_id,\n<<<<<<< HEAD\n  status\n=======\n  amount\n>>>>>>> other\nFROM core.orders',
    '2:1 error merge-conflict: an unresolved merge conflict',
    'keep one side and delete the lines <<<<<<<, ======= and >>>>>>>',
  ),
  line(
    'a43',
    'conflict markers in the header',
    '<<<<<<< HEAD\n-- @kind: view\n=======\n-- @kind: table\n>>>>>>> other\nSELECT order_id FROM core.orders',
    '1:1 error merge-conflict: an unresolved merge conflict',
    'keep one side and delete the lines <<<<<<<, ======= and >>>>>>>',
  ),
  line(
    'a50',
    'typographic quotes',
    'SELECT ‘x’ AS a',
    '1:8 error sql-binding: ‘ is a typographic quote',
    `type straight quotes: 'x'`,
  ),
  line(
    'a50-space',
    'a non-breaking space',
    'SELECT order_id, nope FROM core.orders',
    '1:18 error sql-binding: no column "nope"',
    'available here: order_id, changed_at',
  ),
  line(
    'a46',
    'a tab before a mistake',
    'SELECT\n		nope\nFROM core.orders',
    '2:3 error sql-binding: no column "nope"',
    'available here: order_id, changed_at',
  ),
  line(
    'a49',
    'a mistake behind wide characters',
    `SELECT 'ä日本' AS a, nope FROM core.orders`,
    '1:20 error sql-binding: no column "nope"',
    'available here: order_id, changed_at',
  ),
  line(
    'dbt-1',
    'an append over groups, as an incremental model of dbt',
    '-- @kind: append\n-- @incremental: changed_at\nSELECT changed_at, sum(amount) AS revenue FROM core.orders GROUP BY changed_at',
    '1:4 warning append-over-groups: an append over groups adds a group again whenever late rows change it, so sums over it count twice',
    'write -- @kind: period and -- @period: day of changed_at, which rebuilds whole periods',
  ),
  line(
    'd16f',
    'two columns of one name',
    'SELECT 1 AS a, 2 AS a',
    '1:16 warning renamed-column: two columns are named "a", so the second becomes "a_1"',
    'rename one of them with AS',
  ),
  {
    id: 'a11',
    mistake: 'a circle of two models',
    files: {
      'models/mart/a.sql': 'SELECT * FROM mart.b',
      'models/mart/b.sql': 'SELECT * FROM mart.a',
    },
    answer: `
      models/mart/a.sql:1:15 error dependency-cycle: these models depend on each other: mart.a -> mart.b -> mart.a
      hint: move what they share into a model that both of them read`,
    grade: 'A',
  },
  {
    id: 'a21',
    mistake: 'a comment only',
    files: two('-- nothing here yet'),
    answer: `
      models/mart/two.sql:1:20 error empty-body: the file has no body: expected a SELECT
      hint: such as SELECT … FROM schema.table`,
    grade: 'A',
  },
  {
    id: 'a35',
    mistake: 'an upper case folder and name',
    files: { 'models/MART/Two.sql': 'SELECT order_id FROM CORE.Orders' },
    answer: '',
    grade: 'A',
  },
  {
    id: 'a36b',
    mistake: 'a model named order.table',
    files: { 'models/order/table.sql': 'SELECT 1 AS a', ...two('SELECT a FROM "order"."table"') },
    answer: '',
    grade: 'A',
  },
  {
    id: 'h09',
    mistake: 'a mistake in column 3,500',
    // Side by side: DuckDB binds a sum in a time that grows with the cube of its terms.
    files: two(`SELECT concat(${'1, '.repeat(1158)}ordr_id) AS a FROM core.orders`),
    answer: `
      models/mart/two.sql:1:3489 error sql-binding: no column "ordr_id"
      hint: did you mean "order_id"?`,
    grade: 'A',
  },
  {
    id: 'd13a',
    mistake: 'a CSV that is not there',
    files: two("SELECT * FROM 'data/sales.csv'"),
    answer: `
      models/mart/two.sql:1:15 error sql-binding: No files found that match the pattern "data/sales.csv"
      hint: paths are relative to the directory of eider.yml`,
    grade: 'A',
  },
  {
    id: 'h06',
    mistake: 'all mistakes at once',
    files: {
      'models/mart/a.sql': 'SELECT ordr_id FROM core.orders',
      'models/mart/b.sql': 'SELECT FROM',
      'models/mart/c.sql': 'SELECT * FROM mart.a',
    },
    answer: `
      models/mart/a.sql:1:8 error sql-binding: no column "ordr_id"
      hint: did you mean "order_id"?
      models/mart/b.sql:1:12 error sql-syntax: syntax error at end of input
      hint: something is missing after FROM`,
    grade: 'A',
  },
]
