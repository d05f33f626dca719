// The one table of settings: name in eider.yml, environment variable, type, default, help.
// docs/configuration.md lists the same rows; a test compares the two.

import { limits } from '../core/limits.ts'

export type SettingType =
  | { readonly is: 'text' }
  /** Bytes as DuckDB reads them, such as 4GB. */
  | { readonly is: 'size' }
  | { readonly is: 'boolean' }
  | { readonly is: 'integer'; readonly min: number; readonly max: number }
  | { readonly is: 'list' }
  | { readonly is: 'choice'; readonly of: readonly string[] }
  /** Must not be written into eider.yml, which many can read, nor shown. */
  | { readonly is: 'secret'; readonly hexDigits?: number }
  /** The URL of a PostgreSQL database. */
  | { readonly is: 'catalog' }
  /** The URL of a prefix in an S3 bucket. */
  | { readonly is: 'store' }
  | { readonly is: 'endpoint' }
  /** Names of the engine's own repository. */
  | { readonly is: 'extensions' }

interface Setting {
  readonly type: SettingType
  readonly default: string | number | boolean | readonly string[] | null
  readonly env?: string
  readonly help: string
}

const port = { is: 'integer', min: 0, max: 65_535 } as const
const positive = { is: 'integer', min: 1, max: Number.MAX_SAFE_INTEGER } as const
const text = { is: 'text' } as const
const size = { is: 'size' } as const
const secret = { is: 'secret' } as const

export const settings = {
  database: {
    type: text,
    default: '.eider/warehouse.duckdb',
    help: 'DuckDB file that holds the tables, relative to the project directory',
  },
  threads: {
    type: { is: 'integer', min: 1, max: 256 },
    default: null,
    help: 'DuckDB threads during a run; by default all cores',
  },
  memory_limit: {
    type: size,
    default: null,
    help: 'DuckDB memory during a run, such as 4GB; by default 80% of the machine',
  },
  temp_directory: {
    type: text,
    default: null,
    help: 'Where DuckDB spills what does not fit in memory; by default next to the database',
  },
  max_temp_size: {
    type: text,
    default: null,
    help: 'Maximum size of that directory, such as 50GB; by default 90% of the free disk space',
  },
  allow_sample: {
    type: { is: 'boolean' },
    default: false,
    help: 'Allow runs to build tables from a sample of the rows (`--sample`); not for targets that people rely on',
  },
  'lake.catalog': {
    type: { is: 'catalog' },
    default: null,
    env: 'LAKE_CATALOG',
    help: 'PostgreSQL database with the catalog of a lake, such as postgres://eider@db.example:5432/lake?sslmode=verify-full',
  },
  'lake.password': {
    type: secret,
    default: null,
    env: 'LAKE_PASSWORD',
    help: 'Password of that database; not allowed in eider.yml',
  },
  'lake.schema': {
    type: text,
    default: null,
    help: 'Schema of the lake in that database; by default the name of the project',
  },
  'lake.data': {
    type: { is: 'store' },
    default: null,
    help: 'Where the rows of a lake are stored, such as s3://shop-lake/prod/; fixed by the first run',
  },
  'lake.s3_endpoint': {
    type: { is: 'endpoint' },
    default: null,
    env: 'LAKE_S3_ENDPOINT',
    help: 'URL of the store, http: if it has no TLS; by default AWS',
  },
  'lake.s3_region': { type: text, default: 'us-east-1', help: 'Region of the store' },
  'lake.s3_url_style': {
    type: { is: 'choice', of: ['vhost', 'path'] },
    default: 'vhost',
    help: 'path for most stores other than AWS',
  },
  'lake.s3_key_id': {
    type: text,
    default: null,
    env: 'LAKE_S3_KEY_ID',
    help: 'Access key of the store; the variables AWS_* are not read',
  },
  'lake.s3_secret': {
    type: secret,
    default: null,
    env: 'LAKE_S3_SECRET',
    help: 'Secret key of the store; not allowed in eider.yml',
  },
  'lake.s3_token': {
    type: secret,
    default: null,
    env: 'LAKE_S3_TOKEN',
    help: 'Session token of a temporary key; not allowed in eider.yml',
  },
  'lake.s3_credentials': {
    type: { is: 'choice', of: ['keys', 'chain'] },
    default: 'keys',
    help: 'chain: take them from the role of the machine, with the extension aws',
  },
  'lake.encrypted': {
    type: { is: 'boolean' },
    default: false,
    help: 'Encrypt the objects of a lake, which also detects damage; set it before the first run',
  },
  'lake.keep_days': {
    type: { is: 'integer', min: 1, max: 36_500 },
    default: limits.lakeKeptDays,
    help: 'Days for which old states and unreferenced files of a lake are kept',
  },
  'extensions.directory': {
    type: text,
    default: null,
    env: 'EIDER_EXTENSIONS',
    help: 'Directory of DuckDB extensions; by default the one of DuckDB in the home directory',
  },
  'extensions.load': {
    type: { is: 'extensions' },
    default: [],
    help: 'DuckDB extensions that models use, also written `extensions: [spatial]`',
  },
  'collect.port': {
    type: port,
    default: 8080,
    env: 'COLLECT_PORT',
    help: 'Public port of the collect daemon',
  },
  'collect.admin_port': {
    type: port,
    default: null,
    env: 'COLLECT_ADMIN_PORT',
    help: 'Port of the flush API, only on 127.0.0.1; by default collect.port + 1',
  },
  'collect.host': {
    type: text,
    default: '127.0.0.1',
    env: 'COLLECT_HOST',
    help: 'Address of the public port; anything but a loopback address requires a token',
  },
  'collect.token': {
    type: text,
    default: null,
    env: 'COLLECT_TOKEN',
    help: 'Bearer token that senders of events must send',
  },
  'collect.max_event_bytes': {
    type: { is: 'integer', min: 1, max: limits.largestEventBytes },
    default: limits.eventBytes,
    help: 'Maximum size of an event, as sent and as stored, up to 15 MiB; larger ones get 413',
  },
  'collect.max_batch_bytes': {
    type: positive,
    default: limits.batchBytes,
    help: 'Maximum size of the body of a batch; larger ones get 413',
  },
  'collect.max_buffer_bytes': {
    type: positive,
    default: limits.bufferBytes,
    help: 'Maximum size of the accepted events on disk; beyond it 503 until a run has flushed',
  },
  'collect.admin_timeout_ms': {
    type: positive,
    default: limits.adminTimeoutMs,
    help: 'Time that a run waits for the daemon to answer before it fails',
  },
  'collect.idempotency_hours': {
    type: { is: 'integer', min: 1, max: 8760 },
    default: limits.keyRetentionHours,
    help: 'Hours for which an Idempotency-Key is remembered',
  },
  'collect.idempotency_keys': {
    type: { is: 'integer', min: 1, max: 10_000_000 },
    default: limits.retainedKeys,
    help: 'Keys that each target remembers; beyond that, the oldest are forgotten',
  },
  'collect.cors_origins': {
    type: { is: 'list' },
    default: [],
    help: 'Origins of web pages that may send events, such as https://shop.example; "*" for any, only without a token',
  },
  'collect.accept_text_plain': {
    type: { is: 'boolean' },
    default: false,
    help: 'Treat a text/plain body as JSON, as navigator.sendBeacon sends it',
  },
  'collect.access_log': {
    type: { is: 'boolean' },
    default: false,
    help: 'Log a line for each request on the public port; lowers the peak rate by about 40%',
  },
  'odata.port': { type: port, default: 8090, env: 'ODATA_PORT', help: 'Port of the OData service' },
  'odata.host': {
    type: text,
    default: '127.0.0.1',
    env: 'ODATA_HOST',
    help: 'Address of the OData service; anything but a loopback address requires a token',
  },
  'odata.token': {
    type: text,
    default: null,
    env: 'ODATA_TOKEN',
    help: 'Token that clients must send, as Bearer or as the password of Basic',
  },
  'odata.secret': {
    type: { is: 'secret', hexDigits: 64 },
    default: null,
    env: 'ODATA_SECRET',
    help: '64 hexadecimal digits that sign links, the same on all services; by default a file on each machine',
  },
  'odata.take_up_seconds': {
    type: { is: 'integer', min: 0, max: 3600 },
    default: 0,
    help: 'On a lake: how long after publication services switch to a state, so that all have it in time',
  },
  'odata.memory_limit': {
    type: size,
    default: null,
    help: 'DuckDB memory for the published states that are open, such as 2GB; by default half of the machine',
  },
  'odata.page_size': {
    type: { is: 'integer', min: 1, max: 1_000_000 },
    default: limits.pageRows,
    help: 'Rows per page; longer answers have a next link',
  },
  'odata.key_as_segment': {
    type: { is: 'boolean' },
    default: false,
    help: 'Write keys as path segments: `orders/7` for `orders(7)`',
  },
  'odata.keep_snapshots': {
    type: { is: 'integer', min: 1, max: 10_000 },
    default: limits.retainedSnapshots,
    help: 'Published states that a run keeps on disk for next links and delta links, including the current one',
  },
  'odata.keep_minutes': {
    type: { is: 'integer', min: 0, max: 10_000_000 },
    default: limits.retainedSnapshotMinutes,
    help: 'Minutes for which a run keeps a replaced state, even if there are more',
  },
  'odata.trust_proxy': {
    type: { is: 'boolean' },
    default: false,
    help: 'Take scheme, host and path prefix of URLs in answers from Forwarded or X-Forwarded-* headers',
  },
  'odata.request_timeout_ms': {
    type: positive,
    default: limits.queryTimeoutMs,
    help: 'Time limit of a query in DuckDB; then 504',
  },
  'odata.max_batch_requests': {
    type: positive,
    default: limits.batchRequests,
    help: 'Maximum number of requests in a $batch; then 413',
  },
  'odata.cors_origins': {
    type: { is: 'list' },
    default: [],
    help: 'Origins of web pages that may read, such as https://shop.example; "*" for any, only without a token',
  },
  'odata.cache_bytes': {
    type: { is: 'integer', min: 0, max: Number.MAX_SAFE_INTEGER },
    default: limits.cacheBytes,
    help: 'Memory for cached answers, which are kept until the next snapshot; 0 for no cache',
  },
  'odata.explorer': {
    type: { is: 'choice', of: ['project', 'sets', 'off'] },
    default: null,
    help: 'Page at /: `project`, `sets` (only exposed models) or `off`; by default `project` on loopback, else `sets`',
  },
  'odata.access_log': {
    type: { is: 'boolean' },
    default: true,
    help: 'Log a line for each request of the OData service',
  },
} as const satisfies Record<string, Setting>

/** Variables that open a lake. */
export const lakeSecrets: readonly string[] = [
  settings['lake.password'].env,
  settings['lake.s3_secret'].env,
  settings['lake.s3_token'].env,
]

export type SettingName = keyof typeof settings

export type SecretName = {
  [N in SettingName]: (typeof settings)[N]['type'] extends { is: 'secret' } ? N : never
}[SettingName]

export function isSettingName(text: string): text is SettingName {
  return Object.hasOwn(settings, text)
}

type ValueOf<S extends Setting> = S['type'] extends { is: 'integer' }
  ? number
  : S['type'] extends { is: 'boolean' }
    ? boolean
    : S['type'] extends { is: 'list' | 'extensions' }
      ? readonly string[]
      : S['type'] extends { is: 'choice'; of: readonly (infer C)[] }
        ? C
        : string

/** Values by the rows of the table; null where there is neither a value nor a default. */
export type SettingValues = {
  readonly [N in SettingName]: (typeof settings)[N]['default'] extends null
    ? ValueOf<(typeof settings)[N]> | null
    : ValueOf<(typeof settings)[N]>
}

/** Settings in force: flag > environment > .env > eider.yml > default, with the defaults that follow from others. */
export type Settings = SettingValues & { readonly 'collect.admin_port': number }
