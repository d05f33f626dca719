// A lake for a test: a database of PostgreSQL of its own, a prefix of its own in the bucket, and proxies before both.

import { randomBytes } from 'node:crypto'
import { CatalogProxy } from './catalog-proxy.ts'
import { places } from './parts.ts'
import { asSuperuser } from './postgres-client.ts'
import { bucket, type LakeServers, sharedServers, storeKeys } from './servers.ts'
import { StoreProxy } from './store-proxy.ts'

export interface TestLake extends AsyncDisposable {
  readonly servers: LakeServers
  readonly catalog: CatalogProxy
  readonly store: StoreProxy
  readonly database: string
  readonly user: string
  readonly password: string
  /** `s3://bucket/prefix/`. */
  readonly data: string
  /** What eider.yml says in `targets`, by way of the proxies. */
  readonly settings: Readonly<Record<string, string>>
  /** What the environment of eider says: password, keys, extensions. */
  readonly env: Readonly<Record<string, string>>
  /** SQL in PostgreSQL, past the proxy. */
  postgres(text: string): Promise<readonly (readonly (string | null)[])[]>
}

export async function withLake(servers?: LakeServers): Promise<TestLake> {
  const found = servers ?? (await sharedServers())
  const { database: name, user, password } = await ownDatabase(found)
  const catalog = await CatalogProxy.open(found.postgresPort)
  const store = await StoreProxy.open(found.storePort)
  const data = `s3://${bucket}/${name}/`
  return {
    servers: found,
    catalog,
    store,
    database: name,
    user,
    password,
    data,
    settings: {
      catalog: `postgres://${user}@127.0.0.1:${catalog.port}/${name}`,
      data,
      s3_endpoint: `http://127.0.0.1:${store.port}`,
      s3_url_style: 'path',
    },
    env: {
      LAKE_PASSWORD: password,
      LAKE_S3_KEY_ID: storeKeys.keyId,
      LAKE_S3_SECRET: storeKeys.secret,
      EIDER_EXTENSIONS: places.extensions,
    },
    postgres: (text) => asSuperuser(found, name, text),
    async [Symbol.asyncDispose]() {
      await catalog[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
      await asSuperuser(found, 'postgres', `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      await asSuperuser(found, 'postgres', `DROP ROLE IF EXISTS ${user}`)
    },
  }
}

/** Nobody drops it: it goes with the servers. */
export async function ownDatabase(servers: LakeServers) {
  const database = `lake_${randomBytes(6).toString('hex')}`
  const password = `pw-of-${database}`
  const user = `${database}_owner`
  await asSuperuser(servers, 'postgres', `CREATE ROLE ${user} LOGIN PASSWORD '${password}'`)
  await asSuperuser(servers, 'postgres', `CREATE DATABASE ${database} OWNER ${user}`)
  return { database, user, password }
}
