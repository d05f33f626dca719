// Keys of an S3 store that the machine has by its role. The engine that works with the lake must not know them, so
// another one finds them out, and ends.

import { EnvironmentError } from '../core/failures.ts'
import type { LakeTarget } from '../core/lake.ts'
import { Resources } from '../core/resources.ts'
import { sql } from '../core/sql.ts'
import { type Connection, Database } from './database.ts'
import { DatabaseError } from './errors.ts'
import { textOf } from './values.ts'

export interface StoreKeys {
  readonly keyId: string
  readonly secret: string
  readonly token: string | null
}

/** Throws DatabaseError. */
export async function chainKeys({ extensionsDirectory, store }: LakeTarget): Promise<StoreKeys> {
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
