// A lake in an engine of this process: DuckLake, its catalog in PostgreSQL, its rows in an S3 store.
//
// The keys of the store belong to connections, and the engine has none. When the answer to a COMMIT is lost, DuckLake
// takes the commit for failed and deletes the files that the catalog may by now name: rows that were committed. It
// does so with the settings of the engine, statements run with those of their connection; so the engine's lead to a dead
// end, and what a failed commit leaves is deleted by nobody but `eider maintain`.

import { connectionString } from '../core/server-url.ts'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EnvironmentError } from '../core/failures.ts'
import { LAKE_DATABASE, LAKE_EXTENSIONS, type LakeStore, type LakeTarget } from '../core/lake.ts'
import { limits } from '../core/limits.ts'
import { Resources } from '../core/resources.ts'
import { type Sql, sql } from '../core/sql.ts'
import { type Connection, Database } from './database.ts'
import type { OpenOptions } from './engine-config.ts'
import { textOf } from './values.ts'
import { DatabaseError } from './errors.ts'

const CATALOG_SECRET = sql.ident('lake_catalog')

/** Nothing listens there. */
const DEAD_END = '127.0.0.1:1'

interface LakeEngineOptions extends Omit<OpenOptions, 'path' | 'readOnly' | 'secretDirectory'> {
  /** The name under which PostgreSQL shows the connection: at most 63 characters. */
  readonly applicationName: string
}

interface AttachOptions {
  readonly readOnly?: boolean
  readonly version?: bigint | null
  /** Where no lake is, one is made. */
  readonly makes?: boolean
  /** A catalog of an earlier version is brought to that of the extension. */
  readonly migrates?: boolean
}

/** An engine that can attach a lake, with nothing attached. */
export class LakeEngine {
  /** Closing it closes all. */
  readonly database: Database
  readonly lake: LakeTarget
  /** Without the keys of the store, and outside of the lake: for what concerns the engine. */
  readonly control: Connection
  readonly #applicationName: string
  readonly #keys: StoreKeys

  private constructor(
    database: Database,
    control: Connection,
    lake: LakeTarget,
    keys: StoreKeys,
    applicationName: string,
  ) {
    this.database = database
    this.control = control
    this.lake = lake
    this.#keys = keys
    this.#applicationName = applicationName
  }

  /** Throws ExtensionError. Nothing is connected yet. */
  static async open(
    lake: LakeTarget,
    { applicationName, ...options }: LakeEngineOptions,
  ): Promise<LakeEngine> {
    const names = [...LAKE_EXTENSIONS, ...(options.extensions?.names ?? [])]
    const lock = options.extensions?.lock ?? null
    const extensions = { directory: lake.extensionsDirectory, names, lock }
    await using resources = new Resources()
    // A secret that the user has stored for DuckDB would be one of the engine.
    const secretDirectory = join(tmpdir(), `eider-no-secrets-${randomUUID()}`)
    const database = resources.use(
      await Database.open({
        path: ':memory:',
        ...options,
        secretDirectory,
        extensions,
        hasServers: true,
      }),
    )
    const control = await database.connect()
    // The extension copies AWS_* of the environment into these settings when it is loaded.
    await control.run(sql`
      SET GLOBAL s3_access_key_id = '';
      SET GLOBAL s3_secret_access_key = '';
      SET GLOBAL s3_session_token = '';
      SET GLOBAL s3_endpoint = ${sql.value(DEAD_END)};
      -- The rows of the catalog are few: a second connection to read them takes longer.
      SET GLOBAL pg_use_ctid_scan = false;
      SET GLOBAL ducklake_max_retry_count = 30;
      SET GLOBAL ducklake_retry_wait_ms = 20;
      SET GLOBAL ducklake_retry_backoff = 1.2`)
    const { store } = lake
    if (store.authority !== null)
      await control.run(sql`
        SET GLOBAL ca_cert_file = ${sql.value(store.authority)};
        SET GLOBAL enable_server_cert_verification = true`)
    // What DuckLake tries to delete after a commit that conflicts fails in any case: nobody waits for it.
    await control.run(retriesFor(0))
    await control.run(createCatalogSecret(lake))
    const keys = store.credentials === 'chain' ? await chainKeys(lake) : keysOf(store)
    resources.move()
    return new LakeEngine(database, control, lake, keys, applicationName)
  }

  /** What ATTACH of PostgreSQL takes; no password is in it, since errors repeat it. */
  get connectionString(): string {
    const { parameters } = this.lake.catalog
    const options = [
      // Off, an event that was answered with 202 could be lost in a crash of PostgreSQL.
      '-c synchronous_commit=on',
      // A long build is an idle transaction to PostgreSQL.
      '-c idle_in_transaction_session_timeout=0',
      '-c statement_timeout=0',
      // The transaction of a machine without power would hold up every other one for two hours.
      '-c tcp_keepalives_idle=15',
      '-c tcp_keepalives_interval=5',
      '-c tcp_keepalives_count=3',
    ].join(' ')
    return connectionString([
      ['application_name', this.#applicationName],
      ['connect_timeout', '10'],
      // The same seen from here: a server that is gone for good would be waited for two hours.
      ['keepalives_idle', '15'],
      ['keepalives_interval', '5'],
      ['keepalives_count', '3'],
      ['tcp_user_timeout', '30000'],
      ...parameters,
      ['options', options],
    ])
  }

  /**
   * Attaches the lake under LAKE_DATABASE, where connections that are opened from now on work. It must exist, unless this
   * `makes` it. `version`: as it was then, for reading. Throws DatabaseError.
   */
  async attach(how: AttachOptions = {}): Promise<void> {
    await this.attachAs(this.control, LAKE_DATABASE, how)
    if (how.readOnly !== true) await requireNoKeys(this.control, this.lake.store)
    this.database.onConnect([...this.sessionKeys, this.use])
  }

  /** Costs a transaction in PostgreSQL, unless one is open. */
  get use(): Sql {
    return sql`USE ${sql.ident(LAKE_DATABASE)}`
  }

  /** Attaches the same lake once more, under another name. */
  async attachAs(
    connection: Connection,
    as: string,
    { readOnly = false, version = null, makes = false, migrates = false }: AttachOptions,
  ): Promise<void> {
    const options = [
      ...(readOnly ? [sql`READ_ONLY`] : []),
      ...(version === null ? [] : [sql`SNAPSHOT_VERSION ${sql.value(version)}`]),
      ...(migrates ? [sql`AUTOMATIC_MIGRATION`] : []),
      ...(makes || readOnly ? [] : [sql`CREATE_IF_NOT_EXISTS false`]),
    ]
    await connection.run(this.#attachment(as, options))
  }

  /**
   * Writes an object into the store, which `eider maintain` deletes some day: nothing else says whether the bucket is there
   * and the key may write to it. Throws DatabaseError.
   */
  async tryStore(): Promise<void> {
    // Settings that are wrong are told at once.
    const hasty = [...this.sessionKeys, retriesFor(0, 'SESSION')]
    await using connection = await this.database.connect(hasty)
    const object = `${this.lake.store.data}new-lake-${randomUUID()}.parquet`
    await connection.run(sql`COPY (SELECT 1 AS n) TO ${sql.value(object)}`)
  }

  /**
   * Attaches the lake with keys of the engine, by which DuckLake deletes objects that nothing names any more. Nothing may
   * be written by this engine: after a lost answer to a COMMIT it would delete that too.
   */
  async attachToDelete(): Promise<void> {
    const { data, endpoint, usesTls, region, urlStyle, retrySeconds } = this.lake.store
    const { keyId, secret, token } = this.#keys
    await this.control.run(retriesFor(retrySeconds))
    await this.control.run(sql`
      CREATE SECRET lake_store (TYPE s3, SCOPE ${sql.value(data)}, KEY_ID ${sql.value(keyId)},
        SECRET ${sql.value(secret)}, SESSION_TOKEN ${sql.value(token ?? '')},
        ENDPOINT ${sql.value(endpoint ?? 's3.amazonaws.com')}, REGION ${sql.value(region)},
        URL_STYLE ${sql.value(urlStyle)}, USE_SSL ${sql.value(usesTls)})`)
    await this.control.run(this.#attachment(LAKE_DATABASE, [sql`CREATE_IF_NOT_EXISTS false`]))
  }

  /**
   * No rows are kept in PostgreSQL: each table would be one more there each time it is made, until the states before are
   * dropped, and all of them are listed whenever a lake is attached (test/lake/engine-traps.test.ts).
   */
  #attachment(as: string, further: readonly Sql[]): Sql {
    const { schema, store, encrypted } = this.lake
    const options = [
      sql`META_SECRET 'lake_catalog'`,
      sql`METADATA_SCHEMA ${sql.value(schema)}`,
      sql`DATA_PATH ${sql.value(store.data)}`,
      sql`DATA_INLINING_ROW_LIMIT 0`,
      ...(encrypted ? [sql`ENCRYPTED true`] : []),
      ...further,
    ]
    const path = sql.value(`ducklake:postgres:${this.connectionString}`)
    return sql`ATTACH ${path} AS ${sql.ident(as)} (${sql.join(options)})`
  }

  /** For connections that read or write rows. */
  get sessionKeys(): readonly Sql[] {
    const { endpoint, usesTls, region, urlStyle, retrySeconds } = this.lake.store
    const { keyId, secret, token } = this.#keys
    return [
      sql`SET SESSION s3_access_key_id = ${sql.value(keyId)}`,
      sql`SET SESSION s3_secret_access_key = ${sql.value(secret)}`,
      sql`SET SESSION s3_session_token = ${sql.value(token ?? '')}`,
      sql`SET SESSION s3_endpoint = ${sql.value(endpoint ?? 's3.amazonaws.com')}`,
      sql`SET SESSION s3_region = ${sql.value(region)}`,
      sql`SET SESSION s3_url_style = ${sql.value(urlStyle)}`,
      sql`SET SESSION s3_use_ssl = ${sql.value(usesTls)}`,
      retriesFor(retrySeconds, 'SESSION'),
    ]
  }

  /** From now on the lake is read as it is now. For one that is attached for reading. */
  async pin(): Promise<void> {
    const name = sql.ident(LAKE_DATABASE)
    const row = await this.control.row(sql`SELECT id FROM ${name}.current_snapshot()`)
    await this.control.run(sql`DETACH ${name}`)
    await this.attach({ readOnly: true, version: BigInt(textOf(row?.['id'])) })
  }
}

/**
 * Asks a connection without session keys, as the engine's own are, instead of trusting that they have none. Throws
 * EnvironmentError `lake-unsafe`.
 */
async function requireNoKeys(
  connection: Connection,
  { data }: Pick<LakeStore, 'data'>,
): Promise<void> {
  const row = await connection.row(sql`
    SELECT current_setting('s3_access_key_id') = '' AND current_setting('s3_endpoint') = ${sql.value(DEAD_END)} AS bare,
      (SELECT count(*) FROM which_secret(${sql.value(data)}, 's3'))::INTEGER AS secrets`)
  if (row?.['bare'] === true && row['secrets'] === 0) return
  throw new EnvironmentError(
    'lake-unsafe',
    'DuckDB has its own keys for the store, and would use them to delete committed rows after a lost answer',
    { hint: `remove the secret of DuckDB whose scope covers ${data}` },
  )
}

/** The first is at once, and the waits before the others grow. */
function retriesFor(seconds: number, of: 'GLOBAL' | 'SESSION' = 'GLOBAL'): Sql {
  const backoff = 2
  const waits = (backoff ** (limits.lakeRetries - 1) - 1) / (backoff - 1)
  const set = of === 'GLOBAL' ? sql`SET GLOBAL` : sql`SET SESSION`
  return sql`
    ${set} http_retries = ${sql.value(seconds === 0 ? 1 : limits.lakeRetries)};
    ${set} http_retry_wait_ms = ${sql.value(Math.ceil((seconds * 1000) / waits))};
    ${set} http_retry_backoff = ${sql.value(backoff)};
    ${set} http_timeout = ${sql.value(Math.max(seconds, limits.lakeRequestSeconds))}`
}

function createCatalogSecret({ catalog }: LakeTarget): Sql {
  const { host, port, user, database, password } = catalog
  const parts = [
    sql`TYPE postgres`,
    sql`HOST ${sql.value(host)}`,
    sql`PORT ${sql.value(String(port))}`,
    sql`USER ${sql.value(user)}`,
    sql`DATABASE ${sql.value(database)}`,
    ...(password === null ? [] : [sql`PASSWORD ${sql.value(password)}`]),
  ]
  return sql`CREATE SECRET ${CATALOG_SECRET} (${sql.join(parts)})`
}

function keysOf({ keyId, secret, token }: LakeStore): StoreKeys {
  return { keyId: keyId ?? '', secret: secret ?? '', token }
}

interface StoreKeys {
  readonly keyId: string
  readonly secret: string
  readonly token: string | null
}

/**
 * Keys that the machine has by its role. The engine that works with the lake must not know them, so another one finds them
 * out, and ends. Throws DatabaseError.
 */
async function chainKeys({ extensionsDirectory, store }: LakeTarget): Promise<StoreKeys> {
  await using resources = new Resources()
  const extensions = { directory: extensionsDirectory, names: ['httpfs', 'aws'] }
  const database = resources.use(
    await Database.open({ path: ':memory:', threads: 1, showsSecrets: true, extensions }),
  )
  await using connection = await database.connect()
  const parts = new Map(
    (await chainSecret(connection)).split(';').map((part): [string, string] => {
      const at = part.indexOf('=')
      return [part.slice(0, at), part.slice(at + 1)]
    }),
  )
  const [keyId, secret] = [parts.get('key_id'), parts.get('secret')]
  if (!keyId || !secret)
    throw new EnvironmentError(
      'lake-store-refused',
      `the role of this machine provides no keys for ${store.data}`,
      { hint: 'give it a role with rights on the bucket, or set lake.s3_credentials: keys' },
    )
  return { keyId, secret, token: parts.get('session_token') ?? null }
}

/** The secret as the engine prints it; empty where the machine has no keys. */
async function chainSecret(connection: Connection): Promise<string> {
  try {
    await connection.run(sql`CREATE SECRET _eider_chain (TYPE s3, PROVIDER credential_chain)`)
  } catch (error) {
    if (error instanceof DatabaseError && /Secret Validation Failure/.test(error.details.message))
      return ''
    throw error
  }
  const row = await connection.row(sql`
    SELECT secret_string AS secret FROM duckdb_secrets(redact => false) WHERE name = '_eider_chain'`)
  return textOf(row?.['secret'])
}
