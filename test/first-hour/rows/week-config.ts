// eider.yml in the second week: sources as other tools write them, schedules, tokens, settings of CSV files.

import type { Mistake } from '../mistake.ts'

export const rows: readonly Mistake[] = [
  {
    id: 'wa01',
    mistake: 'a file as the setting of a source',
    files: {
      'eider.yml': 'name: shop\nsources:\n  bank:\n    files:\n      rates: data/rates.csv\n',
    },
    answer: `
      eider.yml:4:5 error config-invalid-value: "sources.bank" must be a group of database, sqlite, postgres, mysql, schema, timeout, secret, tables
      hint: a file is a setting of a table: tables: {rates: {file: data/rates.csv}}`,
    grade: 'A',
  },
  {
    id: 'wa02',
    mistake: 'sources as a list of dbt',
    files: {
      'eider.yml': 'name: shop\nsources:\n  - name: app\n    tables:\n      - name: orders\n',
    },
    answer: `
      eider.yml:3:3 error config-invalid-value: "sources" must be a group of sources by name
      hint: write each name as a key with a colon after it, without a dash`,
    grade: 'A',
  },
  {
    id: 'wa03',
    mistake: 'tables as a list',
    files: {
      'eider.yml':
        'name: shop\nsources:\n  app:\n    sqlite: app.db\n    tables:\n      - orders\n',
    },
    answer: `
      eider.yml:6:7 error config-invalid-value: "sources.app.tables" must be a group of tables by name
      hint: write each name as a key with a colon after it, without a dash`,
    grade: 'A',
  },
  {
    id: 'wa04',
    mistake: 'a schema before the name of a table',
    files: {
      'eider.yml':
        'name: shop\nsources:\n  app:\n    sqlite: app.db\n    tables:\n      orders: sales.orders\n',
    },
    answer: `
      eider.yml:6:15 error config-invalid-value: "sources.app.tables.orders" must be a group of settings, or nothing
      hint: write "schema: sales" at the source, and the table as "orders:"`,
    grade: 'A',
  },
  {
    id: 'wa05',
    mistake: 'a file in the line of its table',
    files: {
      'eider.yml': 'name: shop\nsources:\n  bank:\n    tables:\n      rates: data/rates.csv\n',
    },
    answer: `
      eider.yml:5:14 error config-invalid-value: "sources.bank.tables.rates" must be a group of settings, or nothing
      hint: write it as a setting of the table: file: data/rates.csv`,
    grade: 'A',
  },
  {
    id: 'wa06',
    mistake: 'postgres without a value',
    files: {
      'eider.yml': 'name: shop\nsources:\n  app:\n    postgres:\n    tables:\n      orders:\n',
    },
    answer: `
      eider.yml:4:5 error config-invalid-value: "sources.app.postgres" must be followed by where the tables are
      hint: write it after the colon, or delete the line where each table is a file
      eider.yml:6:7 error config-invalid-value: "sources.app.tables.orders" must be a group with file, since the source has no database`,
    grade: 'A',
  },
  {
    id: 'wa07',
    mistake: 'the URL of SQLAlchemy',
    files: {
      'eider.yml':
        'name: shop\nsources:\n  app:\n    postgres: postgresql+psycopg2://u:secret@h/db\n    tables:\n      orders:\n',
    },
    answer: `
      eider.yml:4:15 error config-invalid-value: "sources.app.postgres" must be a URL without a password, such as postgres://reader@db.example/shop
      hint: write postgres:// without the driver; its password is taken from SOURCE_APP_PASSWORD`,
    grade: 'A',
  },
  {
    id: 'wa08',
    mistake: 'words of libpq',
    files: {
      'eider.yml':
        'name: shop\nsources:\n  app:\n    postgres: host=localhost dbname=shop user=reader\n    tables:\n      orders:\n',
    },
    answer: `
      eider.yml:4:15 error config-invalid-value: "sources.app.postgres" must be a URL without a password, such as postgres://reader@db.example/shop
      hint: write it as a URL: postgres://reader@localhost/shop`,
    grade: 'A',
  },
  {
    id: 'wa09',
    mistake: 'host and port of a server',
    files: {
      'eider.yml':
        'name: shop\nsources:\n  app:\n    host: localhost\n    port: 5432\n    tables:\n      orders:\n',
    },
    answer: `
      eider.yml:4:5 error config-invalid-value: "sources.app" must be a group of database, sqlite, postgres, mysql, schema, timeout, secret, tables
      hint: a server is one URL: postgres: postgres://reader@db.example/shop
      eider.yml:5:5 error config-invalid-value: "sources.app" must be a group of database, sqlite, postgres, mysql, schema, timeout, secret, tables
      hint: a server is one URL: postgres: postgres://reader@db.example/shop
      eider.yml:7:7 error config-invalid-value: "sources.app.tables.orders" must be a group with file, since the source has no database`,
    grade: 'A',
  },
  {
    id: 'wa10',
    mistake: 'a key that is indented too deep',
    files: { 'eider.yml': 'name: shop\nodata:\n  port: 8091\n   host: 127.0.0.1\n' },
    answer: `
      eider.yml:4:4 error config-syntax: this is not valid YAML: this key is indented deeper than line 3, which has a value
      hint: indent it as much as line 3`,
    grade: 'A',
  },
  {
    id: 'wa11',
    mistake: 'an offset for a time zone',
    files: { 'eider.yml': 'name: shop\nschedule:\n  timezone: UTC+2\n  runs: []\n' },
    answer: `
      eider.yml:3:13 error config-invalid-value: "schedule.timezone" must be a time zone such as Europe/Oslo
      hint: name a place; without summer time it is Etc/GMT-2`,
    grade: 'A',
  },
  {
    id: 'wa12',
    mistake: 'every beside the runs',
    files: { 'eider.yml': 'name: shop\nschedule:\n  every: 5 minutes\n' },
    answer: `
      eider.yml:3:3 error config-invalid-value: "schedule" must be a group of timezone, runs
      hint: such as runs: [{name: nightly, cron: "0 3 * * *"}]`,
    grade: 'A',
  },
  {
    id: 'wa13',
    mistake: 'runs as a group',
    files: { 'eider.yml': 'name: shop\nschedule:\n  runs:\n    nightly:\n      cron: 0 3 * * *\n' },
    answer: `
      eider.yml:4:5 error config-invalid-value: "schedule.runs" must be a list of runs, each with every or cron, 100 at most
      hint: such as runs: [{name: nightly, cron: "0 3 * * *"}]`,
    grade: 'A',
  },
  {
    id: 'wa14',
    mistake: 'a day of the week that there is not',
    files: { 'eider.yml': 'name: shop\nschedule:\n  runs:\n    - cron: 0 3 * * 8\n' },
    answer: `
      eider.yml:4:13 error config-invalid-value: "schedule.runs.1.cron" must be a cron line of five fields that occurs, such as '0 3 * * *'
      hint: Invalid value for dayOfWeek: 8`,
    grade: 'A',
  },
  {
    id: 'wa15',
    mistake: 'every 0 minutes',
    files: { 'eider.yml': 'name: shop\nschedule:\n  runs:\n    - every: 0 minutes\n' },
    answer: `
      eider.yml:4:14 error config-invalid-value: "schedule.runs.1.every" must be a time from 1 second to 1 day, such as 5 minutes`,
    grade: 'B',
  },
  {
    id: 'wa16',
    mistake: '5m',
    files: { 'eider.yml': 'name: shop\nschedule:\n  runs:\n    - every: 5m\n' },
    answer: `
      eider.yml:4:14 error config-invalid-value: "schedule.runs.1.every" must be a time from 1 second to 1 day, such as 5 minutes
      hint: write 5 minutes`,
    grade: 'A',
  },
  {
    id: 'wa17',
    mistake: 'a token as it is',
    files: { 'eider.yml': 'name: shop\nodata:\n  tokens:\n    - s3cret-token-of-mine\n' },
    answer: `
      eider.yml:4:7 error config-invalid-value: "odata.tokens" must be a group of name and hash: a token itself is written nowhere
      hint: eider token NAME makes a token, and prints what to write here`,
    grade: 'A',
  },
  {
    id: 'wa18',
    mistake: 'a filter that is no text',
    files: {
      'eider.yml':
        'name: shop\nodata:\n  tokens:\n    - name: north\n      hash: sha256:0000000000000000000000000000000000000000000000000000000000000000\n      rows:\n        - region = north\n',
    },
    answer: `
      eider.yml:7:9 error config-invalid-value: "odata.tokens.rows" must be a condition in SQL, or a group of them by the names of sets`,
    grade: 'A',
  },
  {
    id: 'wa19',
    mistake: 'a date of Germany',
    files: {
      'eider.yml':
        'name: shop\nodata:\n  tokens:\n    - name: north\n      hash: sha256:0000000000000000000000000000000000000000000000000000000000000000\n      expires: 31.12.2026\n',
    },
    answer: `
      eider.yml:6:16 error config-invalid-value: "odata.tokens.expires" must be a date such as 2027-01-31, the last day, or a time such as 2027-01-31T12:00:00Z`,
    grade: 'A',
  },
  {
    id: 'wa20',
    mistake: 'an address of mail',
    files: { 'eider.yml': 'name: shop\nnotify: me@example.com\n' },
    answer: `
      eider.yml:2:9 error config-invalid-value: "notify" must be a group of on, late_after, webhook, command
      hint: such as {webhook: "\${NOTIFY_URL}"}, or {command: ./notify.sh}, which can send mail`,
    grade: 'A',
  },
  {
    id: 'wa21',
    mistake: 'nulls as a number',
    files: {
      'eider.yml':
        'name: shop\nsources:\n  b:\n    tables:\n      r:\n        file: data/r.csv\n        csv: {nulls: -1}\n',
    },
    answer: `
      eider.yml:7:22 error config-invalid-value: "sources.b.tables.r.csv.nulls" must be a string that means NULL in quotes, or a list of them`,
    grade: 'A',
  },
  {
    id: 'wa22',
    mistake: 'an encoding of Windows',
    files: {
      'eider.yml':
        'name: shop\nsources:\n  b:\n    tables:\n      r:\n        file: data/r.csv\n        csv: {encoding: cp1252}\n',
    },
    answer: `
      eider.yml:7:25 error config-invalid-value: "sources.b.tables.r.csv.encoding" must be one of utf-8, utf-16, latin-1
      hint: save the file as UTF-8; latin-1 reads what Windows calls 1252 except for €, quotes and dashes`,
    grade: 'A',
  },
  {
    id: 'wa23',
    mistake: 'a date format of Java',
    files: {
      'eider.yml':
        'name: shop\nsources:\n  b:\n    tables:\n      r:\n        file: data/r.csv\n        csv: {date_format: dd/MM/yyyy}\n',
    },
    answer: `
      eider.yml:7:28 error config-invalid-value: "sources.b.tables.r.csv.date_format" must be a format such as "%d/%m/%Y"
      hint: write "%d/%m/%Y": %d is the day, %m the month, %Y the year`,
    grade: 'A',
  },
  {
    id: 'wa24',
    mistake: 'csv settings of a Parquet file',
    files: {
      'eider.yml':
        'name: shop\nsources:\n  b:\n    tables:\n      r:\n        file: data/r.parquet\n        csv: {nulls: NA}\n',
    },
    answer: `
      eider.yml:7:14 error config-invalid-value: "sources.b.tables.r.csv" must be left out: the file is not a CSV
        hint: for files whose columns differ: parquet: {union_by_name: true}`,
    grade: 'A',
  },
  {
    id: 'wa25',
    mistake: 'a type of Python',
    files: {
      'data/r.csv': 'n\n1\n',
      'eider.yml':
        'name: shop\nsources:\n  b:\n    tables:\n      r:\n        file: data/r.csv\n        columns: {n: int64}\n',
    },
    answer: `
`,
    grade: 'B',
  },
  {
    id: 'wa26',
    mistake: 'a Word file',
    files: {
      'eider.yml': 'name: shop\nsources:\n  b:\n    tables:\n      r:\n        file: data/r.xls\n',
    },
    answer: `
      eider.yml:6:15 error config-invalid-value: "sources.b.tables.r.file" must be the path or URL of a .csv, .tsv, .json, .ndjson, .parquet or .xlsx file, or a pattern
        hint: save it as .xlsx or .csv, and name that file`,
    grade: 'A',
  },
  {
    id: 'wa27',
    mistake: 'freshness without a column',
    files: {
      'eider.yml':
        'name: shop\nsources:\n  b:\n    tables:\n      r:\n        file: data/r.csv\n        warn_after: 1 day\n',
    },
    answer: `
      eider.yml:5:7 error config-invalid-value: "sources.b.tables.r" must be a group with loaded_at, the column that tells the age of its rows`,
    grade: 'A',
  },
]
