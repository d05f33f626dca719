// Models in the first days: values that no day had before, names, dates, zones.

import type { Changes, CommandAsk, Mistake } from '../mistake.ts'

const model = (sql: string): Changes => ({ 'models/core/t.sql': `${sql}\n` })
const run: CommandAsk = { eider: ['run', 'core.t'] }
const asked = (query: string): CommandAsk => ({
  eider: ['odata', 'preview', query],
  after: [['run', 'core.t']],
})
const queried = (query: string, env: Readonly<Record<string, string>> = {}): CommandAsk => ({
  eider: ['query', '--format', 'csv', query],
  after: [['run', 'core.t']],
  env,
})

export const rows: readonly Mistake[] = [
  {
    id: 'd01-date',
    mistake: 'current_date in a model',
    files: model("SELECT 1 AS id, current_date > DATE '2000-01-01' AS is_new"),
    ask: { eider: ['plan', 'core.t'], after: [['run', 'core.t']] },
    answer: `
      unchanged core.t nothing changed
      plan: 0 to build, 1 unchanged`,
    grade: 'A',
  },
  {
    id: 'd10',
    mistake: 'a name of a file that is as long as the system allows',
    files: { [`models/core/${'a'.repeat(240)}.sql`]: 'SELECT 1 AS id\n' },
    ask: { eider: ['check'] },
    answer: `
      ok: 6 models, 0 errors, 0 warnings`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'd11',
    mistake: 'reserved words as exposed columns',
    files: model('-- @expose "order"\nSELECT 1 AS "order", 2 AS "group", \'x\' AS "select"'),
    ask: asked("core_t?$filter=order eq 1 and select eq 'x'&$orderby=group"),
    answer: `
      {"@odata.context":"http://127.0.0.1:8090/odata/$metadata#core_t","value":[{"order":1,"group":2,"select":"x"}]}`,
    grade: 'A',
  },
  {
    id: 'd12',
    mistake: 'a blank in an exposed column',
    files: model('-- @expose id\nSELECT 1 AS id, 2 AS "gross amount"'),
    ask: { eider: ['check'] },
    answer: `
      models/core/t.sql:2:17 error exposed-name: the column "gross amount" cannot be exposed: a name in OData has letters, digits and underscores only, and does not start with a digit
      hint: write AS gross_amount after it
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd13',
    mistake: 'an exposed column of NULL alone',
    files: model('-- @expose id\nSELECT 1 AS id, NULL AS shipped_at'),
    ask: { eider: ['check'] },
    answer: `
      models/core/t.sql:2:17 warning untyped-null: the column "shipped_at" is NULL without a type, and is published as INTEGER: another type would break clients later
      hint: say its type, such as NULL::TIMESTAMP AS shipped_at
      ok: 6 models, 0 errors, 1 warning`,
    grade: 'A',
  },
  {
    id: 'd14',
    mistake: 'a set without rows',
    files: model('-- @expose id\nSELECT 1 AS id WHERE false'),
    ask: asked('core_t?$count=true'),
    answer: `
      {"@odata.context":"http://127.0.0.1:8090/odata/$metadata#core_t","@odata.count":0,"value":[]}`,
    grade: 'A',
  },
  {
    id: 'd15',
    mistake: 'values that are no numbers',
    files: model(
      "-- @expose id\nSELECT id, v FROM (VALUES (1, 'nan'::DOUBLE), (2, 'inf'), (3, 1.5)) AS rows (id, v)",
    ),
    ask: asked('core_t?$filter=v gt 1'),
    answer: `
      {"@odata.context":"http://127.0.0.1:8090/odata/$metadata#core_t","value":[{"id":2,"v":"INF"},{"id":3,"v":1.5}]}`,
    grade: 'A',
  },
  {
    id: 'd16',
    mistake: '29 February in a year that has none',
    files: model('SELECT id, make_date(2025, 2, id) AS day FROM range(27, 30) AS days (id)'),
    ask: run,
    answer: `
      models/core/t.sql:1:12 error core.t: Date out of range: 2025-2-29
      hint: try(make_date(…)) gives NULL where there is no such day
      failed core.t models/core/t.sql:1:12: Date out of range: 2025-2-29
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd41',
    mistake: 'another time zone of the machine',
    files: model(
      "SELECT 1 AS id, TIMESTAMPTZ '2026-01-01T00:30:00Z' AS paid_at, paid_at::DATE AS day",
    ),
    ask: {
      eider: ['run', 'core.t'],
      after: [['run', 'core.t']],
      env: { TZ: 'America/New_York', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' },
    },
    answer: `
      1 unchanged in <time>`,
    grade: 'A',
  },
  {
    id: 'd42',
    mistake: 'a query in another time zone',
    files: model("SELECT 1 AS id, TIMESTAMPTZ '2026-01-01T00:30:00Z' AS paid_at"),
    ask: queried('SELECT paid_at, paid_at::VARCHAR AS text, paid_at::DATE AS day FROM core.t', {
      TZ: 'America/New_York',
    }),
    answer: `
      paid_at,text,day
      2026-01-01 00:30:00+00,2026-01-01 00:30:00+00,2026-01-01`,
    grade: 'A',
  },
  {
    id: 'd43-gap',
    mistake: 'an hour that the change to summer time leaves out',
    files: model(
      "SELECT 1 AS id, timezone('Europe/Oslo', TIMESTAMP '2026-03-29 02:30:00') AS paid_at",
    ),
    ask: queried('SELECT paid_at FROM core.t'),
    answer: `
      paid_at
      2026-03-29 01:30:00+00`,
    grade: 'B',
  },
  {
    id: 'd56',
    mistake: 'two columns that differ in letter case',
    files: model('SELECT 1 AS id, 2 AS ID'),
    ask: { eider: ['check'] },
    answer: `
      models/core/t.sql:1:17 warning renamed-column: two columns are named "ID", so the second becomes "ID_1"
      hint: rename one of them with AS
      ok: 6 models, 0 errors, 1 warning`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'd56-case',
    mistake: 'names in another letter case',
    files: model('SELECT ORDER_ID FROM Core.Orders'),
    ask: { eider: ['check'] },
    answer: `
      ok: 6 models, 0 errors, 0 warnings`,
    grade: 'A',
  },
  {
    id: 'd57',
    mistake: 'SET before the SELECT',
    files: model("SET TimeZone = 'UTC'; SELECT 1 AS id"),
    ask: { eider: ['check'] },
    answer: `
      models/core/t.sql:1:1 error not-a-select: a model is one SELECT statement
      hint: write only the SELECT; eider sets the options of DuckDB; see memory_limit in eider.yml
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd58',
    mistake: 'NULL in the column of @incremental',
    files: model(
      "-- @kind: append\n-- @incremental: paid_at\nSELECT * FROM (VALUES (1, NULL::TIMESTAMP), (2, TIMESTAMP '2026-01-01')) AS rows (id, paid_at)",
    ),
    ask: run,
    answer: `
      models/core/t.sql:2:4 error core.t: 1 row has NULL in the watermark column "paid_at"; filter or fill them in the SELECT
      failed core.t models/core/t.sql:2:4: 1 row has NULL in the watermark column "paid_at"; filter or fill them in the SELECT
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd58-join',
    mistake: 'a join that multiplies the rows of a merge',
    files: {
      ...model(
        '-- @kind: merge\n-- @unique_key: id\nSELECT o.id, p.way FROM (VALUES (1), (2)) AS o (id) JOIN ref.paid AS p ON p.id = o.id',
      ),
      'seeds/ref/paid.csv': 'id,way\n1,card\n1,cash\n2,card\n',
    },
    ask: { eider: ['run', '+core.t'] },
    answer: `
      models/core/t.sql:2:4 error core.t: duplicate keys: id = 1 (2 rows); filter them in the SELECT, or keep one row of each key with @on_duplicate: latest(column)
      built ref.paid 3 rows, <time> (first build)
      failed core.t models/core/t.sql:2:4: duplicate keys: id = 1 (2 rows); filter them in the SELECT, or keep one row of each key with @on_duplicate: latest(column)
      1 failed, 1 built, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd12-at',
    mistake: 'a column named at',
    files: model("SELECT id, at FROM (SELECT 1 AS id, DATE '2026-01-01' AS at)"),
    ask: { eider: ['check'] },
    answer: `
      models/core/t.sql:1:15 error sql-syntax: syntax error at or near "FROM"
      hint: AT begins a clause of DuckDB; quote the name: "at"
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd12-zone',
    mistake: 'AT TIMEZONE for AT TIME ZONE',
    files: model("SELECT now() AT TIMEZONE 'UTC' AS at_utc"),
    ask: { eider: ['check'] },
    answer: `
      models/core/t.sql:1:17 error sql-syntax: syntax error at or near "TIMEZONE"
      hint: write AT TIME ZONE 'UTC'
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd12-only-zone',
    mistake: 'AT ZONE for AT TIME ZONE',
    files: model("SELECT now() AT ZONE 'UTC' AS at_utc"),
    ask: { eider: ['check'] },
    answer: `
      models/core/t.sql:1:17 error sql-syntax: syntax error at or near "ZONE"
      hint: write AT TIME ZONE 'UTC'
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd12-version',
    mistake: 'AT VERSION without parentheses',
    files: model('SELECT 1 AS id FROM core.ord AT VERSION 3'),
    ask: { eider: ['check'] },
    answer: `
      models/core/t.sql:1:33 error sql-syntax: syntax error at or near "VERSION"
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd59',
    mistake: 'a sum of text',
    files: model("SELECT sum(v) AS total FROM (VALUES ('1'), ('2')) AS rows (v)"),
    ask: { eider: ['check'] },
    answer: `
      models/core/t.sql:1:8 error sql-binding: sum does not take VARCHAR
      hint: it is sum(DECIMAL), sum(BOOLEAN), sum(SMALLINT), sum(INTEGER), …
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd64',
    mistake: 'a macro that names a model',
    files: {
      ...model('SELECT newest() AS id'),
      'macros/newest.sql': 'CREATE MACRO newest() AS (SELECT max(order_id) FROM core.orders);\n',
    },
    ask: { eider: ['check'] },
    answer: `
      macros/newest.sql:1:53 error sql-binding: Table with name "core.orders" does not exist because schema "core" does not exist.
      hint: a macro names no model: it takes the name as a parameter, for query_table(parameter)
      models/core/t.sql:1:8 error sql-binding: no function "newest"
      hint: define it in macros/*.sql: CREATE MACRO newest(x) AS …
      failed: 6 models, 2 errors, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd66',
    mistake: 'a changed rule of an incremental merge',
    files: model(
      "-- @kind: merge\n-- @unique_key: id\n-- @incremental: paid_at\nSELECT id, paid_at, n FROM (VALUES (1, TIMESTAMP '2026-01-01', 5), (2, TIMESTAMP '2026-01-02', 6)) AS rows (id, paid_at, n)",
    ),
    ask: {
      eider: ['plan', 'core.t'],
      after: [
        ['run', 'core.t'],
        model(
          "-- @kind: merge\n-- @unique_key: id\n-- @incremental: paid_at\nSELECT id, paid_at, n * 2 AS n FROM (VALUES (1, TIMESTAMP '2026-01-01', 5), (2, TIMESTAMP '2026-01-02', 6)) AS rows (id, paid_at, n)",
        ),
      ],
    },
    answer: `
      build core.t definition changed
      1 of 2 rows keep an older rule: eider run core.t --full-refresh rebuilds them, with --start and --end a range of them, --forward-only keeps them
      plan: 1 to build, 0 unchanged`,
    grade: 'A',
  },
]
