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
  /** Of a PostgreSQL database. */
  | { readonly is: 'catalog' }
  /** Of a prefix in an S3 bucket. */
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
    help: 'DuckDB threads during a run; all cores by default',
  },
  memory_limit: {
    type: size,
    default: null,
    help: 'DuckDB memory during a run, such as 4GB; 80 % of the machine by default',
  },
  temp_directory: {
    type: text,
    default: null,
    help: 'Where DuckDB spills what does not fit in memory; next to the database by default',
  },
  max_temp_size: {
    type: text,
    default: null,
    help: 'Largest size of that directory, such as 50GB; 90 % of the free disk by default',
  },
  allow_sample: {
    type: { is: 'boolean' },
    default: false,
    help: 'Let runs build the tables of this target from a part of their rows (`--sample`); not where people rely on them',
  },
  'lake.catalog': {
    type: { is: 'catalog' },
    default: null,
    env: 'LAKE_CATALOG',
    help: 'PostgreSQL database that names the tables of a lake, such as postgres://eider@db.example:5432/lake?sslmode=verify-full',
  },
  'lake.password': {
    type: secret,
    default: null,
    env: 'LAKE_PASSWORD',
    help: 'Password of that database; not in eider.yml',
  },
  'lake.schema': {
    type: text,
    default: null,
    help: 'Schema of the lake in that database; the name of the project by default',
  },
  'lake.data': {
    type: { is: 'store' },
    default: null,
    help: 'Where the rows of a lake lie, such as s3://shop-lake/prod/; fixed by the first run',
  },
  'lake.s3_endpoint': {
    type: { is: 'endpoint' },
    default: null,
    env: 'LAKE_S3_ENDPOINT',
    help: 'URL of the store, with http: for one without TLS; AWS by default',
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
    help: 'Key of the store; the variables AWS_* are not read',
  },
  'lake.s3_secret': {
    type: secret,
    default: null,
    env: 'LAKE_S3_SECRET',
    help: 'Its secret; not in eider.yml',
  },
  'lake.s3_token': {
    type: secret,
    default: null,
    env: 'LAKE_S3_TOKEN',
    help: 'Session token of a temporary key; not in eider.yml',
  },
  'lake.s3_credentials': {
    type: { is: 'choice', of: ['keys', 'chain'] },
    default: 'keys',
    help: 'chain: from the role of the machine, with the extension aws',
  },
  'lake.keep_days': {
    type: { is: 'integer', min: 1, max: 36_500 },
    default: limits.lakeKeptDays,
    help: 'Days for which old states and unnamed files of a lake are kept',
  },
  'extensions.directory': {
    type: text,
    default: null,
    env: 'EIDER_EXTENSIONS',
    help: 'Directory of engine extensions; the one of DuckDB in the home directory by default',
  },
  'extensions.load': {
    type: { is: 'extensions' },
    default: [],
    help: 'Extensions of DuckDB whose functions models call, also written `extensions: [spatial]`',
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
    help: 'Port of the flush API, on 127.0.0.1 only; collect.port + 1 by default',
  },
  'collect.host': {
    type: text,
    default: '127.0.0.1',
    env: 'COLLECT_HOST',
    help: 'Address of the public port; any but a loopback address needs a token',
  },
  'collect.token': {
    type: text,
    default: null,
    env: 'COLLECT_TOKEN',
    help: 'Bearer token that senders of events must show',
  },
  'collect.max_event_bytes': {
    type: { is: 'integer', min: 1, max: limits.largestEventBytes },
    default: limits.eventBytes,
    help: 'Largest event, as it is sent and as it is stored, up to 15 MiB; above it 413',
  },
  'collect.max_batch_bytes': {
    type: positive,
    default: limits.batchBytes,
    help: 'Largest body of a batch; above it 413',
  },
  'collect.max_buffer_bytes': {
    type: positive,
    default: limits.bufferBytes,
    help: 'Accepted events kept on disk; above it 503 until a run has flushed',
  },
  'collect.admin_timeout_ms': {
    type: positive,
    default: limits.adminTimeoutMs,
    help: 'Time a run waits for an answer of the daemon before it ends with an error',
  },
  'collect.idempotency_hours': {
    type: { is: 'integer', min: 1, max: 8760 },
    default: limits.keyRetentionHours,
    help: 'Hours for which the Idempotency-Key of a request is remembered',
  },
  'collect.idempotency_keys': {
    type: { is: 'integer', min: 1, max: 10_000_000 },
    default: limits.retainedKeys,
    help: 'Keys that each target remembers; with more the oldest are forgotten',
  },
  'collect.cors_origins': {
    type: { is: 'list' },
    default: [],
    help: 'Origins of web pages that may send events, such as https://shop.example; "*" for any, without a token only',
  },
  'collect.accept_text_plain': {
    type: { is: 'boolean' },
    default: false,
    help: 'Take a body of type text/plain for JSON, as navigator.sendBeacon sends it',
  },
  'collect.access_log': {
    type: { is: 'boolean' },
    default: false,
    help: 'Log a line for each request of the public port; it takes about two fifths of the highest rate',
  },
  'odata.port': { type: port, default: 8090, env: 'ODATA_PORT', help: 'Port of the OData service' },
  'odata.host': {
    type: text,
    default: '127.0.0.1',
    env: 'ODATA_HOST',
    help: 'Address of the OData service; any but a loopback address needs a token',
  },
  'odata.token': {
    type: text,
    default: null,
    env: 'ODATA_TOKEN',
    help: 'Token that clients must show, as Bearer or as the password of Basic',
  },
  'odata.secret': {
    type: { is: 'secret', hexDigits: 64 },
    default: null,
    env: 'ODATA_SECRET',
    help: '64 hexadecimal digits that sign links, the same on all services; a file of each machine by default',
  },
  'odata.take_up_seconds': {
    type: { is: 'integer', min: 0, max: 3600 },
    default: 0,
    help: 'On a lake: services show a state so long after it was published, when all have it',
  },
  'odata.memory_limit': {
    type: size,
    default: null,
    help: 'DuckDB memory for the published states that are open, such as 2GB; half of the machine by default',
  },
  'odata.page_size': {
    type: { is: 'integer', min: 1, max: 1_000_000 },
    default: limits.pageRows,
    help: 'Rows of a page; larger answers carry a next link',
  },
  'odata.key_as_segment': {
    type: { is: 'boolean' },
    default: false,
    help: 'Whether paths write keys as segments: `orders/7` for `orders(7)`',
  },
  'odata.keep_snapshots': {
    type: { is: 'integer', min: 1, max: 10_000 },
    default: limits.retainedSnapshots,
    help: 'Published states that a run keeps on disk, the current one included, for next links and delta links',
  },
  'odata.keep_minutes': {
    type: { is: 'integer', min: 0, max: 10_000_000 },
    default: limits.retainedSnapshotMinutes,
    help: 'Minutes for which a run keeps a replaced state even when there are more',
  },
  'odata.trust_proxy': {
    type: { is: 'boolean' },
    default: false,
    help: 'Take the host, the scheme and the path prefix of URLs in answers from Forwarded or X-Forwarded-* headers',
  },
  'odata.request_timeout_ms': {
    type: positive,
    default: limits.queryTimeoutMs,
    help: 'Time limit of a query in DuckDB; above it 504',
  },
  'odata.max_batch_requests': {
    type: positive,
    default: limits.batchRequests,
    help: 'Requests in one $batch; above it 413',
  },
  'odata.cors_origins': {
    type: { is: 'list' },
    default: [],
    help: 'Origins of web pages that may read, such as https://shop.example; "*" for any, without a token only',
  },
  'odata.cache_bytes': {
    type: { is: 'integer', min: 0, max: Number.MAX_SAFE_INTEGER },
    default: limits.cacheBytes,
    help: 'Memory for answers that are given again to equal requests until the next snapshot; 0 for none',
  },
  'odata.explorer': {
    type: { is: 'choice', of: ['project', 'sets', 'off'] },
    default: null,
    help: 'What the page at / shows: `project`, `sets` (nothing but the exposed models) or `off` (no page); `project` on a loopback address, else `sets` by default',
  },
  'odata.access_log': {
    type: { is: 'boolean' },
    default: true,
    help: 'Log a line for each request of the OData service',
  },
} as const satisfies Record<string, Setting>

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
