// An engine with a lake attached by plain statements, for tests of what DuckLake does: they say nothing of eider, and
// show after an upgrade what has become different.

import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { temporaryDirectory } from '../temporary-directory.ts'
import { Resources } from '../../../src/core/resources.ts'
import { lakeExtensions, places } from './parts.ts'
import { storeKeys } from './servers.ts'
import type { TestLake } from './with-lake.ts'

interface RawEngine extends AsyncDisposable {
  /** A connection with the keys of the store, if those are of connections, and the lake as its default. */
  connect(): Promise<RawConnection>
  /** With what the database has, as the connections that DuckLake opens for itself. */
  connectWithoutKeys(): Promise<RawConnection>
}

export interface RawConnection {
  run(text: string): Promise<void>
  /** All rows as JSON values. */
  rows(text: string): Promise<readonly (readonly unknown[])[]>
  /** The message of the error; throws when there is none. */
  refusal(text: string): Promise<string>
}

export interface RawOptions {
  /**
   * 'connection': each connection has the keys and the database has none. 'secret': a secret of the database has them,
   * as is usual, and with it DuckLake can delete.
   */
  readonly keys?: 'connection' | 'secret'
  /** Leaves the keys that httpfs has taken from the environment, if there are any. */
  readonly keepsEnvironment?: boolean
  /** Further options of ATTACH. */
  readonly options?: string
  /** Of the connection to PostgreSQL. */
  readonly parameters?: string
}

export async function openRawEngine(lake: TestLake, options: RawOptions = {}): Promise<RawEngine> {
  await using resources = new Resources()
  const secrets = await temporaryDirectory()
  resources.defer(() => secrets[Symbol.asyncDispose]())
  const instance = await DuckDBInstance.create(':memory:', {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    // To check signatures hashes the files: half a second of a processor, and the program checks them.
    allow_unsigned_extensions: 'true',
    extension_directory: places.extensions,
    secret_directory: secrets.path,
    threads: '2',
  })
  resources.defer(() => instance.closeSync())
  const ofConnection = keySettings(lake)
  const hasSecret = options.keys === 'secret'
  const first = new Connection(await instance.connect())
  resources.defer(() => first.close())
  for (const name of lakeExtensions) await first.run(`LOAD ${name}`)
  const keys = ['s3_access_key_id', 's3_secret_access_key', 's3_session_token']
  for (const setting of options.keepsEnvironment === true ? [] : keys)
    await first.run(`SET GLOBAL ${setting} = ''`)
  await first.run(`SET GLOBAL s3_endpoint = '127.0.0.1:1'`)
  await first.run(hasSecret ? secretOf(lake) : ofConnection)
  await first.run(attachment(lake, options))
  const all = resources.move()
  const connectWithoutKeys = async () => {
    const connection = new Connection(await instance.connect())
    all.defer(() => connection.close())
    return connection
  }
  return {
    connectWithoutKeys,
    async connect() {
      const connection = await connectWithoutKeys()
      if (!hasSecret) await connection.run(ofConnection)
      await connection.run('USE lake')
      return connection
    },
    [Symbol.asyncDispose]: () => all[Symbol.asyncDispose](),
  }
}

/** The statements of scale-out: no password in the connection string, which every error of ATTACH shows. */
function attachment(lake: TestLake, { options = '', parameters = '' }: RawOptions = {}) {
  const { database, user, password, catalog, data } = lake
  return `
    CREATE OR REPLACE SECRET lake_catalog (TYPE postgres, HOST '127.0.0.1', PORT ${catalog.port},
      USER '${user}', PASSWORD '${password}', DATABASE '${database}');
    SET GLOBAL ducklake_max_retry_count = 30;
    SET GLOBAL ducklake_retry_wait_ms = 20;
    SET GLOBAL ducklake_retry_backoff = 1.2;
    ATTACH 'ducklake:postgres:connect_timeout=10 ${parameters}' AS lake (META_SECRET 'lake_catalog',
      METADATA_SCHEMA 'shop', DATA_PATH '${data}', DATA_INLINING_ROW_LIMIT 0${options && `, ${options}`})`
}

function keySettings(lake: TestLake): string {
  return `
    SET SESSION s3_access_key_id = '${storeKeys.keyId}';
    SET SESSION s3_secret_access_key = '${storeKeys.secret}';
    SET SESSION s3_endpoint = '127.0.0.1:${lake.store.port}';
    SET SESSION s3_region = 'us-east-1';
    SET SESSION s3_url_style = 'path';
    SET SESSION s3_use_ssl = false`
}

function secretOf(lake: TestLake): string {
  return `CREATE SECRET store (TYPE s3, KEY_ID '${storeKeys.keyId}', SECRET '${storeKeys.secret}',
    ENDPOINT '127.0.0.1:${lake.store.port}', REGION 'us-east-1', URL_STYLE 'path', USE_SSL false)`
}

class Connection implements RawConnection {
  readonly #driver: DuckDBConnection

  constructor(driver: DuckDBConnection) {
    this.#driver = driver
  }

  async run(text: string): Promise<void> {
    await this.#driver.run(text)
  }

  async rows(text: string): Promise<readonly (readonly unknown[])[]> {
    return (await this.#driver.runAndReadAll(text)).getRowsJson()
  }

  async refusal(text: string): Promise<string> {
    try {
      await this.#driver.run(text)
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
    throw new Error(`this was not refused: ${text}`)
  }

  /** Closing blocks this process, and an open transaction would wait for the proxies, which are in it too. */
  async close(): Promise<void> {
    await this.#driver.run('ROLLBACK').catch(() => undefined)
    this.#driver.closeSync()
  }
}
