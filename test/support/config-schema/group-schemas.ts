// The groups of eider.yml that are not settings as JSON Schema, each key with what an editor says of it. The keys are
// those that the readers of the groups know: the compiler wants an entry for each.

import { type NotificationWay, occasions } from '../../../src/core/notifications.ts'
import type { SourceKind } from '../../../src/core/sources.ts'
import type { csvKeys } from '../../../src/project/csv-settings.ts'
import type { checkKeys } from '../../../src/project/declared-checks.ts'
import type { runKeys, scheduleKeys } from '../../../src/project/schedule.ts'
import { sourceReaders } from '../../../src/project/sources/kinds.ts'
import { AGE } from '../../../src/project/sources/nodes.ts'
import type { SECRET_KEYS } from '../../../src/project/sources/secrets.ts'
import type { parquetKeys, TABLE_KEYS } from '../../../src/project/sources/tables.ts'
import {
  described,
  group,
  type JsonSchema,
  matching,
  named,
  oneOf,
  text,
  texts,
} from './value-schemas.ts'

type Members<Keys extends readonly string[]> = Readonly<Record<Keys[number], JsonSchema>>

/** Sources may take it from the environment. */
const AGE_OR_VARIABLE = new RegExp(`${AGE.source}|\\$\\{`)
const NAME = /^[^.]+$/
const TARGET = /^[A-Za-z0-9_-]+$/
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/
const TIME = /^\d{1,9} (second|minute|hour|day)s?$/
const FROM_ENVIRONMENT = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/

const oneOrMore = (item: JsonSchema): JsonSchema => ({
  anyOf: [item, { type: ['array', 'null'], items: item }],
})

const checks: Members<typeof checkKeys> = {
  checks: described(
    'Checks, such as - unique(id): models that read the table fail when one does not hold',
    texts,
  ),
  warn: described('Checks that only cause a warning when they do not hold', texts),
}

const flag: JsonSchema = { type: ['boolean', 'null'] }

const csv: Members<typeof csvKeys> = {
  nulls: described('Text that stands for NULL, such as NA, or a list of them', oneOrMore(text)),
  decimal: described('Sign before decimals: "," or "."', matching(/^[.,]$/)),
  thousands: described('Sign between groups of three digits, such as "."', matching(/^.$/)),
  date_format: described('Form of dates, such as "%d/%m/%Y"', text),
  timestamp_format: described('Form of times, such as "%d/%m/%Y %H:%M:%S"', text),
  delimiter: described('Sign between the values, such as ";"', matching(/^.$/)),
  quote: described('Sign around texts; "" for none', matching(/^.?$/)),
  header: described('Whether the first line has the names of the columns', flag),
  encoding: described('utf-8, utf-16 or latin-1', text),
  union_by_name: described('Files of a pattern may lack columns, which are NULL there', flag),
}

const parquet: Members<typeof parquetKeys> = {
  union_by_name: described('Files of a pattern may have other columns and types', flag),
}

const table: Members<typeof TABLE_KEYS> = {
  file: described(
    'A file, a pattern or a URL: .csv, .tsv, .txt, .json, .ndjson, .parquet, .xlsx',
    text,
  ),
  iceberg: described('Directory of an Iceberg table, or its .metadata.json file', text),
  delta: described('Directory of a Delta table', text),
  sheet: described('Sheet of an Excel file; the first one by default', {
    type: ['string', 'number', 'null'],
  }),
  range: described('Cells of that sheet, such as A1:D20', text),
  columns: described(
    'Types by column: of a CSV file, of any; on a server, of numbers that no DECIMAL holds by itself',
    { type: ['object', 'null'], additionalProperties: text },
  ),
  csv: described('How a CSV file is written', group(csv)),
  parquet: described('How Parquet files of a pattern are read', group(parquet)),
  changed_by: described(
    'Column of a table in a database of which each change of a row gives the row another value, such as updated_at',
    text,
  ),
  loaded_at: described(
    'Column with a date or a time: its latest value tells when the table was last loaded',
    text,
  ),
  warn_after: described(
    'Age from which models that read the table get a warning, such as 12 hours',
    matching(AGE_OR_VARIABLE),
  ),
  error_after: described(
    'Age from which models that read the table fail, such as 2 days',
    matching(AGE_OR_VARIABLE),
  ),
  ...checks,
}

const kinds: Readonly<Record<Exclude<SourceKind, 'files'>, JsonSchema>> = {
  duckdb: described(
    'DuckDB file that has the tables, relative to the project directory. Without it each table is a file',
    text,
  ),
  sqlite: described('SQLite file that has the tables', text),
  postgres: described(
    'URL of a PostgreSQL database, such as postgres://reader@db.example/shop; its password is taken from SOURCE_<NAME>_PASSWORD',
    text,
  ),
  mysql: described(
    'URL of a MySQL or MariaDB database, such as mysql://reader@db.example/shop; its password is taken from SOURCE_<NAME>_PASSWORD',
    text,
  ),
}

const source: Readonly<Record<string, JsonSchema>> = {
  ...Object.fromEntries(
    Object.entries(kinds).map(([kind, schema]) => [sourceReaders[kind as SourceKind].key, schema]),
  ),
  schema: described(
    'Schema of the tables in that database; main by default, public in PostgreSQL, the database itself in MySQL',
    text,
  ),
  timeout: described(
    'How long a server may take for a statement, such as 5 minutes; 60 seconds by default',
    matching(AGE_OR_VARIABLE),
  ),
  secret: described('Entry under secrets for reading remote files', text),
  tables: described(
    'The tables that models may read, by name',
    named(NAME, group(table, { description: 'A table that models read as source.table' })),
  ),
}

type SecretType = keyof typeof SECRET_KEYS
type SecretMembers = { readonly [T in SecretType]: Members<(typeof SECRET_KEYS)[T]> }

const hidden = (description: string) =>
  described(
    `${description}: a variable of the environment or of .env, such as \${NAME}`,
    matching(FROM_ENVIRONMENT),
  )

const secrets: SecretMembers = {
  s3: {
    type: described('s3: keys of a store. http: a token, or user and password, of a web server', {
      const: 's3',
    }),
    key_id: described('Id of the key; leave key_id and secret out for public files', text),
    secret: hidden('Secret of the key'),
    token: hidden('Session token of a temporary key'),
    region: described('Region of the store; us-east-1 by default', text),
    endpoint: described(
      'URL of the store, such as https://store.example:9000; AWS by default',
      text,
    ),
    url_style: described('path for most stores other than AWS', oneOf(['vhost', 'path'])),
  },
  http: {
    type: described('s3: keys of a store. http: a token, or user and password, of a web server', {
      const: 'http',
    }),
    token: hidden('Bearer token'),
    user: described('Name of the user', text),
    password: hidden('Password of the user'),
  },
}

const run: Members<typeof runKeys> = {
  name: described('For messages and eider status; what every or cron says by default', text),
  every: described('A time from 1 second to 1 day, such as 5 minutes', matching(TIME)),
  cron: described("Minute, hour, day, month and weekday, such as '0 3 * * 1-5', or @daily", text),
  select: described(
    'Selectors of the models to run, such as [tag:nightly+]; all by default',
    oneOrMore(text),
  ),
  exclude: described('Selectors of the models to leave out', oneOrMore(text)),
}

const schedule: Members<typeof scheduleKeys> = {
  timezone: described(
    'Time zone of the cron lines, such as Europe/Oslo; that of the machine by default',
    text,
  ),
  runs: described('The runs, each with every or cron', {
    type: ['array', 'null'],
    items: {
      ...group(run),
      type: 'object',
      oneOf: [{ required: ['every'] }, { required: ['cron'] }],
    },
  }),
}

const ways: Readonly<Record<NotificationWay, JsonSchema>> = {
  webhook: described(
    'URL to which a notification is sent by POST, as JSON, such as ${NOTIFY_URL}',
    text,
  ),
  command: described('Shell command that gets the same JSON on stdin', text),
}

const notify: Readonly<Record<string, JsonSchema>> = {
  on: described(
    'What to send notifications about: all by default, late if late_after is set',
    oneOrMore(oneOf(occasions)),
  ),
  late_after: described(
    'How long after its due time a scheduled run counts as late, such as 30 minutes',
    matching(TIME),
  ),
  ...ways,
}

const scalar: JsonSchema = { type: ['string', 'number', 'boolean'] }

export const variables = described('Values that models take as ${name}', {
  ...named(VARIABLE, { anyOf: [scalar, { type: 'array', items: scalar, minItems: 1 }] }),
})

export const groups = {
  schedule: described('When eider up runs what', group(schedule)),
  notify: described(
    'Where to send notifications when scheduled runs fail, recover or are late, or sets are behind',
    {
      ...group(notify),
      anyOf: [{ type: 'null' }, ...Object.keys(ways).map((way) => ({ required: [way] }))],
    },
  ),
  sources: described(
    'Tables of other databases and files, which models read by name',
    named(NAME, group(source, { required: ['tables'], type: 'object' })),
  ),
  secrets: described(
    'Keys and tokens for reading remote files; the values come from the environment',
    named(/^[A-Za-z0-9_-]+$/, {
      oneOf: Object.values(secrets).map((members) =>
        group(members, { required: ['type'], type: 'object' }),
      ),
    }),
  ),
}

/** `members`: what a target may override. */
export const targets = (members: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  described(
    'Further states of the project, for --target NAME; these settings take precedence over the file',
    named(TARGET, group(members, { description: 'What this target overrides' })),
  )
