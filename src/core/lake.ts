// A target whose tables are a lake: its catalog in PostgreSQL, its rows as Parquet in an S3-compatible store.

import type { StoreAccess } from './sources.ts'
import { UsageError } from './failures.ts'
import type { ServerAddress } from './server-url.ts'

/** What is set. Services and the daemon of such a target need none of it, so it may not be whole. */
export interface LakeSettings {
  /** The project that owns the schema. */
  readonly project: string
  /** Without a password it is as libpq finds it, which also reads ~/.pgpass. */
  readonly catalog: ServerAddress | null
  /** The schema of the lake's own tables in the catalog. */
  readonly schema: string
  readonly store: LakeStoreSettings
  /** Its objects are, by keys in the catalog; decided for good when it is made. One that is does not need this. */
  readonly encrypted: boolean
  readonly keepDays: number
  readonly extensionsDirectory: string
}

/** Whole, so that it can be opened. */
export interface LakeTarget extends LakeSettings {
  readonly catalog: ServerAddress
  readonly store: LakeStore
}

export interface LakeStore extends LakeStoreSettings {
  readonly data: string
}

interface LakeStoreSettings extends StoreAccess {
  /** `s3://bucket/prefix/`, always with the slash. */
  readonly data: string | null
  readonly credentials: 'keys' | 'chain'
  /** A file with the certificates of those who sign that of the store, in place of those of the machine. */
  readonly authority: string | null
  /** For how long a request is sent again. */
  readonly retrySeconds: number
}

/**
 * Under this name the lake is attached, and models of a schema of that name are refused. It is that of the default
 * database file, so that `warehouse.mart.sales` means the same on both.
 */
export const LAKE_DATABASE = 'warehouse'

/** Extensions of the engine, all of which the statements of a lake need. */
export const LAKE_EXTENSIONS = ['ducklake', 'postgres_scanner', 'httpfs'] as const

/** With the one that asks the machine for its keys. */
export const extensionsOfLake = ({ store }: LakeSettings): readonly string[] =>
  store.credentials === 'chain' ? [...LAKE_EXTENSIONS, 'aws'] : LAKE_EXTENSIONS

/** The schema of rows that are stored under other types than their relation has (type-syntax.ts). */
export const STORED_SCHEMA = '_eider_stored'

/** Throws UsageError for what is not set. */
export function requireWhole(lake: LakeSettings): LakeTarget {
  const { catalog, store } = lake
  if (catalog === null)
    throw missing('lake.catalog', 'set it in eider.yml, or LAKE_CATALOG in the environment')
  const { data, credentials, keyId, secret } = store
  if (data === null)
    throw missing('lake.data', 'set it in eider.yml to a location such as s3://bucket/prefix/')
  if (credentials === 'keys' && (keyId === null || secret === null)) {
    const name = keyId === null ? 'lake.s3_key_id' : 'lake.s3_secret'
    const variables = 'set LAKE_S3_KEY_ID and LAKE_S3_SECRET in the environment or in .env'
    throw missing(
      name,
      `${variables}; to use the role of the machine, set lake.s3_credentials: chain`,
    )
  }
  return { ...lake, catalog, store: { ...store, data } }
}

const missing = (name: string, hint: string) =>
  new UsageError(`${name} is not set, and the tables of this target are in a lake`, { hint })

/** For people: without a password. */
export function describeLake({ catalog, schema }: Pick<LakeTarget, 'catalog' | 'schema'>): string {
  const { user, host, port, database } = catalog
  return `postgres://${user}@${host}:${port}/${database}, schema ${schema}`
}
