// Commands in the second week.

import type { Mistake } from '../mistake.ts'

export const rows: readonly Mistake[] = [
  {
    id: 'wc01',
    mistake: 'a flag of dbt',
    ask: { eider: ['run', '--models', 'core.orders'] },
    answer: `
      error: eider run has no flag --models
      hint: name the models without a flag: eider run core.orders mart.sales+`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc02',
    mistake: 'a file for a query that is none',
    ask: { eider: ['query', '-o', 'x.docx', 'SELECT 1 AS n'] },
    answer: `
      error: the end of "x.docx" does not say which format the file has
      hint: these do: .csv, .json, .jsonl, .md, .ndjson, .parquet, .xlsx; or say it with --format`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc03',
    mistake: 'a format of a query that there is not',
    ask: { eider: ['query', '--format', 'xml', 'SELECT 1 AS n'] },
    answer: `
      error: --format must be one of table, json, ndjson, csv, markdown, parquet, xlsx, not "xml"
      hint: see "eider query --help"`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc04',
    mistake: 'a port above all',
    ask: { eider: ['serve', '--port', '99999'] },
    answer: `
      error: --port must be an integer from 0 to 65535, not "99999"
      hint: it sets odata.port, see docs/configuration.md`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc05',
    mistake: 'restore to yesterday',
    ask: { eider: ['restore', 'core.orders', '--at', 'yesterday'], after: [['run']] },
    answer: `
      error: --at yesterday is neither a time nor a run that is recorded`,
    among: true,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc06',
    mistake: 'a month that there is not',
    ask: { eider: ['run', '--start', '2026-13-01', '--end', '2026-12-31'] },
    answer: `
      error: --start and --end replace rows of models that read a part of their input, and none is selected
      hint: the project has no append or period model and no merge with @incremental; others read all of their input in each run`,
    exitCode: 2,
    grade: 'B',
  },
  {
    id: 'wc07',
    mistake: 'history of what is not there',
    ask: { eider: ['history', 'core.orderz'], after: [['run']] },
    answer: `
      error: there is no model or entity set "core.orderz"
      hint: did you mean "core.orders"?`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc08',
    mistake: 'erase by a word without quotes',
    ask: { eider: ['erase', 'raw.orders', 'order_id = seven'], after: [['run']] },
    answer: `
      CONDITION:1:12 error sql-binding: no column "seven"
      hint: if it is text, quote it: 'seven'
      1 error`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'wc09',
    mistake: 'accept what is not there',
    ask: { eider: ['plan', '--accept', 'core.orderz'] },
    answer: `
      error: --accept: the project has no model core.orderz
      hint: "eider ls" lists the models; --accept all means all of them`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc10',
    mistake: 'a dollar that the shell took',
    ask: { eider: ['odata', 'preview', 'core_orders?=status eq'], after: [['run']] },
    answer: `
      error: the option of "=status eq" has no name; a shell takes $filter for one of its variables unless the URL is in single quotes
      hint: docs/odata/queries.md lists what a query can contain`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc11',
    mistake: 'a template that there is not',
    ask: { eider: ['init', 'new', '--template', 'shopp'] },
    answer: `
      error: --template must be one of events, web-analytics, shop, app-database, files, blank, not "shopp"
      hint: see "eider init --help"`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc12',
    mistake: 'fmt of a file that is not there',
    ask: { eider: ['fmt', 'models/core/nope.sql'] },
    answer: `
      error: <project>/models/core/nope.sql cannot be read: models/core/nope.sql does not exist
      hint: name files, such as models/core/orders.sql, or none for all of the project`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc13',
    mistake: 'mv to its own name',
    ask: { eider: ['mv', 'core.orders', 'core.orders'], after: [['run']] },
    answer: `
      error: core.orders and core.orders are one name: case does not distinguish models
      hint: to change only the case, rename the file; the next run keeps the table`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc14',
    mistake: 'a contract of what is not there',
    ask: { eider: ['contract', 'core.orderz'] },
    answer: `
      error: there is no model or entity set "core.orderz"
      hint: did you mean "core.orders"?`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc15',
    mistake: 'a table and a misspelt column',
    ask: { eider: ['query', 'SELECT statuss FROM core.orders'], after: [['run']] },
    answer: `
      query:1:8 error sql-binding: no column "statuss"
      hint: did you mean "status"?
      1 error`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'wc16',
    mistake: 'two statements in a query',
    ask: { eider: ['query', 'SELECT 1; SELECT 2'] },
    answer: `
      error: a query must be a single SELECT, SHOW, DESCRIBE or SUMMARIZE
      hint: only a run changes the warehouse`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc17',
    mistake: 'drop of a model that has a file',
    ask: { eider: ['drop', 'core.orders'], after: [['run']] },
    answer: `
      error: core.orders is defined by models/core/orders.sql
      hint: delete the file first`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc18',
    mistake: 'publish of what is not exposed',
    ask: { eider: ['publish', 'raw.orders'], after: [['run']] },
    answer: `
      published raw.orders
      1 table, no set has changed; the next run builds what reads them`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'wc19',
    mistake: 'test of a model without tests',
    ask: { eider: ['test', 'core.orders'] },
    answer: `
      no tests: tests/<schema>/<model>/<case>/ has given/ and expect.csv`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'wc20',
    mistake: 'explain of a file',
    ask: { eider: ['explain', 'models/core/orders.sql'] },
    answer: `
      error: there is no model or entity set "models/core/orders.sql"
      hint: did you mean "core.orders"?`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc06-day',
    mistake: 'a range from a day that there is not',
    files: {
      'models/mart/days.sql':
        '-- @kind: period\n-- @period: day of day\nSELECT changed_at::DATE AS day, count(*) AS n FROM core.orders GROUP BY 1\n',
    },
    ask: { eider: ['run', '--start', '2024-02-30', '--end', '2024-03-01'] },
    answer: `
      error: --start 2024-02-30 is not a valid value for "day" (DATE), the @period of mart.days
      hint: February 2024 has 29 days; write a day without a time, such as 2024-05-01`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc05-flag',
    mistake: 'restore without a time',
    ask: { eider: ['restore', 'core.orders'] },
    answer: `
      error: the flag --at is missing
      hint: see "eider restore --help"`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc05-future',
    mistake: 'restore to a time to come',
    ask: { eider: ['restore', 'core.orders', '--at', '2999-01-01'], after: [['run']] },
    answer: `
      hint: times without a zone are UTC; name a time that has passed, or the id of a run`,
    among: true,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'wc31',
    mistake: 'times of a history that get a zone',
    files: {
      'models/core/h.sql':
        "-- @kind: scd2\n-- @unique_key: id\nSELECT 1 AS id, TIMESTAMP '2026-04-29 02:30:00' AS upd\n",
    },
    ask: {
      eider: ['run', 'core.h'],
      after: [
        ['run', 'core.h'],
        {
          'models/core/h.sql':
            "-- @kind: scd2\n-- @unique_key: id\nSELECT 1 AS id, TIMESTAMPTZ '2027-04-29 02:30:00+02:00' AS upd\n",
        },
      ],
    },
    answer: `
      models/core/h.sql:3:17 error core.h: column "upd" cannot change from TIMESTAMP to TIMESTAMP WITH TIME ZONE without losing values; to keep the rows, keep the type of the table, with the zone of its times: upd AT TIME ZONE 'UTC' AS upd; otherwise rebuild the table, which ends its history: eider run core.h --full-refresh`,
    among: true,
    exitCode: 1,
    grade: 'A',
  },
]
