// The one table of settings: name in eider.yml, environment variable, type, default.
// docs/configuration.md lists the same rows, with what each means; a test compares the two.

import { limits } from '../core/limits.ts'

export type SettingType =
  | { readonly is: 'text' }
  /** Bytes as DuckDB reads them, such as 4GB. */
  | { readonly is: 'size' }
  | { readonly is: 'boolean' }
  | { readonly is: 'integer'; readonly min: number; readonly max: number }
  | { readonly is: 'number-or-auto'; readonly max: number }
  | { readonly is: 'list' }
  | { readonly is: 'choice'; readonly of: readonly string[] }
  /** Must not be written into eider.yml, which many can read, nor shown. */
  | { readonly is: 'secret'; readonly hexDigits?: number }
  /** The URL of a PostgreSQL database. */
  | { readonly is: 'catalog' }
  /** The URL of a prefix in an S3 bucket. */
  | { readonly is: 'store' }
  | { readonly is: 'endpoint' }
  /** The URL of a web server, which may hold a key. */
  | { readonly is: 'web' }
  /** A token that is sent in a header. */
  | { readonly is: 'bearer' }
  /** Names of the engine's own repository. */
  | { readonly is: 'extensions' }

interface Setting {
  readonly type: SettingType
  readonly default: string | number | boolean | readonly string[] | null
  readonly env?: string
  /** The variable is meant for other tools too, so a value that is not usable here is no reason to stop. */
  readonly isShared?: true
}

const port = { is: 'integer', min: 0, max: 65_535 } as const
const positive = { is: 'integer', min: 1, max: Number.MAX_SAFE_INTEGER } as const
const text = { is: 'text' } as const
const size = { is: 'size' } as const
const secret = { is: 'secret' } as const

export const settings = {
  database: { type: text, default: '.eider/warehouse.duckdb' },
  threads: { type: { is: 'integer', min: 1, max: 256 }, default: null },
  memory_limit: { type: size, default: null },
  temp_directory: { type: text, default: null },
  max_temp_size: { type: text, default: null },
  allow_sample: { type: { is: 'boolean' }, default: false },
  failing_rows: { type: { is: 'integer', min: 0, max: 1_000_000 }, default: 0 },
  'lake.catalog': { type: { is: 'catalog' }, default: null, env: 'LAKE_CATALOG' },
  'lake.password': { type: secret, default: null, env: 'LAKE_PASSWORD' },
  'lake.schema': { type: text, default: null },
  'lake.data': { type: { is: 'store' }, default: null },
  'lake.s3_endpoint': { type: { is: 'endpoint' }, default: null, env: 'LAKE_S3_ENDPOINT' },
  'lake.s3_region': { type: text, default: 'us-east-1' },
  'lake.s3_url_style': { type: { is: 'choice', of: ['vhost', 'path'] }, default: 'vhost' },
  'lake.s3_key_id': { type: text, default: null, env: 'LAKE_S3_KEY_ID' },
  'lake.s3_secret': { type: secret, default: null, env: 'LAKE_S3_SECRET' },
  'lake.s3_token': { type: secret, default: null, env: 'LAKE_S3_TOKEN' },
  'lake.s3_credentials': { type: { is: 'choice', of: ['keys', 'chain'] }, default: 'keys' },
  'lake.s3_ca': { type: text, default: null },
  'lake.s3_retry_seconds': {
    type: { is: 'integer', min: 0, max: 3600 },
    default: limits.lakeRetrySeconds,
  },
  'lake.encrypted': { type: { is: 'boolean' }, default: false },
  'lake.keep_days': { type: { is: 'integer', min: 1, max: 36_500 }, default: limits.lakeKeptDays },
  'extensions.directory': { type: text, default: null, env: 'EIDER_EXTENSIONS' },
  'extensions.load': { type: { is: 'extensions' }, default: [] },
  'collect.port': { type: port, default: 8080, env: 'COLLECT_PORT' },
  'collect.admin_port': { type: port, default: null, env: 'COLLECT_ADMIN_PORT' },
  'collect.host': { type: text, default: '127.0.0.1', env: 'COLLECT_HOST' },
  'collect.token': { type: text, default: null, env: 'COLLECT_TOKEN' },
  'collect.max_event_bytes': {
    type: { is: 'integer', min: 1, max: limits.largestEventBytes },
    default: limits.eventBytes,
  },
  'collect.max_batch_bytes': { type: positive, default: limits.batchBytes },
  'collect.max_buffer_bytes': { type: positive, default: limits.bufferBytes },
  'collect.admin_timeout_ms': { type: positive, default: limits.adminTimeoutMs },
  'collect.idempotency_hours': {
    type: { is: 'integer', min: 1, max: 8760 },
    default: limits.keyRetentionHours,
  },
  'collect.idempotency_keys': {
    type: { is: 'integer', min: 1, max: 10_000_000 },
    default: limits.retainedKeys,
  },
  'collect.cors_origins': { type: { is: 'list' }, default: [] },
  'collect.accept_text_plain': { type: { is: 'boolean' }, default: false },
  'collect.access_log': { type: { is: 'boolean' }, default: false },
  'odata.port': { type: port, default: 8090, env: 'ODATA_PORT' },
  'odata.host': { type: text, default: '127.0.0.1', env: 'ODATA_HOST' },
  'odata.token': { type: text, default: null, env: 'ODATA_TOKEN' },
  'odata.secret': { type: { is: 'secret', hexDigits: 64 }, default: null, env: 'ODATA_SECRET' },
  'odata.take_up_seconds': { type: { is: 'integer', min: 0, max: 3600 }, default: 0 },
  'odata.workers': { type: { is: 'number-or-auto', max: limits.mostWorkers }, default: 1 },
  'odata.memory_limit': { type: size, default: null },
  'odata.page_size': { type: { is: 'integer', min: 1, max: 1_000_000 }, default: limits.pageRows },
  'odata.key_as_segment': { type: { is: 'boolean' }, default: false },
  'odata.keep_snapshots': {
    type: { is: 'integer', min: 1, max: 10_000 },
    default: limits.retainedSnapshots,
  },
  'odata.keep_minutes': {
    type: { is: 'integer', min: 0, max: 10_000_000 },
    default: limits.retainedSnapshotMinutes,
  },
  'odata.apart_percent': {
    type: { is: 'integer', min: 0, max: 50 },
    default: limits.apartPercent,
  },
  'odata.trust_proxy': { type: { is: 'boolean' }, default: false },
  'odata.request_timeout_ms': { type: positive, default: limits.queryTimeoutMs },
  'odata.max_batch_requests': { type: positive, default: limits.batchRequests },
  'odata.cors_origins': { type: { is: 'list' }, default: [] },
  'odata.cache_bytes': {
    type: { is: 'integer', min: 0, max: Number.MAX_SAFE_INTEGER },
    default: limits.cacheBytes,
  },
  'odata.explorer': { type: { is: 'choice', of: ['project', 'sets', 'off'] }, default: null },
  'odata.mcp': { type: { is: 'boolean' }, default: false },
  'odata.access_log': { type: { is: 'boolean' }, default: true },
  'openlineage.url': { type: { is: 'web' }, default: null, env: 'OPENLINEAGE_URL', isShared: true },
  'openlineage.token': {
    type: { is: 'bearer' },
    default: null,
    env: 'OPENLINEAGE_API_KEY',
    isShared: true,
  },
  'openlineage.namespace': {
    type: text,
    default: null,
    env: 'OPENLINEAGE_NAMESPACE',
    isShared: true,
  },
  'openlineage.file': { type: text, default: null },
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

/** Settings whose values are shown to nobody. A token may be written into eider.yml, a secret not. */
export const secretSettings = (Object.keys(settings) as readonly SettingName[]).filter(
  (name) => settings[name].type.is === 'secret' || name.endsWith('.token'),
)

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
        : S['type'] extends { is: 'number-or-auto' }
          ? number | 'auto'
          : string

/** Values by the rows of the table; null where there is neither a value nor a default. */
export type SettingValues = {
  readonly [N in SettingName]: (typeof settings)[N]['default'] extends null
    ? ValueOf<(typeof settings)[N]> | null
    : ValueOf<(typeof settings)[N]>
}

/** Settings in force: flag > environment > .env > eider.yml > default, with the defaults that follow from others. */
export type Settings = SettingValues & { readonly 'collect.admin_port': number }
