// A project that has one of everything a person writes, all of it right.

const hash = (digit: string) => `sha256:${digit.repeat(64)}`

export const CONFIG = `name: shop
threads: 1
memory_limit: 500MB
failing_rows: 10
vars:
  since: 2020-01-01
  least: 1
  words: [a, b]
  isOpen: true
schedule:
  timezone: Europe/Oslo
  runs:
    - name: often
      every: 5 minutes
      select: [mart.totals]
    - name: nightly
      cron: '0 3 * * *'
notify:
  on: [failed, recovered]
  command: ./notify.sh
sources:
  files:
    tables:
      rates: {file: data/rates.csv}
      notes:
        file: 'data/*.json'
targets:
  test:
    threads: 2
    database: test.duckdb
    vars: {least: 2}
collect:
  port: 0
  admin_port: 0
  tokens:
    - name: till
      hash: '${hash('0')}'
      targets: [raw.*]
  webhooks:
    - name: hook
      target: raw.hooks
      signature: stripe
      secret: \${HOOK_SECRET}
      tolerance_seconds: 300
odata:
  port: 0
  page_size: 100
  explorer: 'off'
  cors_origins: [https://shop.example]
  tokens:
    - name: anna
      hash: '${hash('1')}'
      expires: 2099-01-31
      sets: [mart_totals]
      rows: id > 0
`

export const FILES: Readonly<Record<string, string>> = {
  'eider.yml': CONFIG,
  '.env': '# for tests\nHOOK_SECRET=secret-of-hooks\nPLAIN="a value"\n',
  'data/rates.csv': 'id,rate\n1,1.5\n2,2.5\n',
  'data/notes.json': '[{"id": 1, "note": "one"}]\n',
  'models/raw/orders.sql':
    '-- @kind: events\n-- @description: What was ordered\n-- @check: id > 0\nid INTEGER NOT NULL,\nword VARCHAR,\nat TIMESTAMPTZ\n',
  'models/raw/hooks.sql': '-- @kind: events\nid INTEGER\n',
  'models/core/words.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @on_duplicate: latest(id)\nSELECT id, word FROM raw.orders\n',
  'models/core/rates.sql':
    '-- @tags: slow\n-- @owner: us\nSELECT o.id, coalesce(r.rate, 1) AS rate FROM raw.orders o LEFT JOIN files.rates r ON r.id = o.id\n',
  'models/mart/totals.sql': `-- @expose id
-- @description: Each order
-- @column id: its number
-- @check: id IS NOT NULL
-- @warn: word <> ''
SELECT o.id, twice(o.id) AS double, w.word, s.name, r.rate
FROM raw.orders o JOIN core.words w ON w.id = o.id JOIN core.rates r ON r.id = o.id
LEFT JOIN ref.names s ON s.id = o.id % 3
WHERE o.id >= \${least}
`,
  'macros/twice.sql': 'CREATE MACRO twice(x) AS x * 2;\n',
  'checks/none_negative.sql':
    '-- @description: No order is below zero\nSELECT * FROM raw.orders WHERE id < 0\n',
  'seeds/ref/names.csv': 'id,name\n0,zero\n1,one\n2,two\n',
  'seeds/ref/names.yml': 'columns:\n  id: INTEGER\n',
  'tests/core/words/one/given/raw.orders.csv': 'id,word,at\n1,a,2026-01-01\n',
  'tests/core/words/one/expect.csv': 'id,word\n1,a\n',
}
