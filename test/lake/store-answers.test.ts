// Answers of a store that are no rows: each is told with its status and the store's own code, and none is a bug of eider.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../src/core/failures.ts'
import { type LakeTarget, requireWhole } from '../../src/core/lake.ts'
import { sql } from '../../src/core/sql.ts'
import { DatabaseError, refusalOf } from '../../src/duckdb/errors.ts'
import { LakeEngine } from '../../src/duckdb/open-lake.ts'
import { explainLake } from '../../src/store/lake/failures.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeSettingsOf } from '../support/lake/lake-settings-of.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'

const REFUSED = 'lake-store-refused'
const UNREACHABLE = 'lake-store-unreachable'

interface Row {
  readonly status: number
  readonly name: string
  readonly code: string
  readonly says: RegExp
}

const rows: readonly Row[] = [
  { status: 400, name: 'ExpiredToken', code: REFUSED, says: /^the token of the key has run out/ },
  { status: 400, name: 'InvalidToken', code: REFUSED, says: /^the token of the key has run out/ },
  { status: 400, name: 'RequestTimeout', code: UNREACHABLE, says: /^the store does not answer/ },
  { status: 400, name: 'InvalidRequest', code: REFUSED, says: /^the store refuses a request/ },
  { status: 400, name: '', code: REFUSED, says: /^the store refuses a request/ },
  { status: 403, name: 'AccessDenied', code: REFUSED, says: /^the store refuses the key/ },
  { status: 403, name: 'QuotaExceeded', code: REFUSED, says: /^the store is full/ },
  { status: 405, name: 'MethodNotAllowed', code: REFUSED, says: /^the store refuses a request/ },
  { status: 409, name: 'OperationAborted', code: UNREACHABLE, says: /^the store does not answer/ },
  { status: 409, name: 'InvalidBucketState', code: REFUSED, says: /^the store refuses a request/ },
  { status: 411, name: 'MissingContentLength', code: REFUSED, says: /^the store refuses a req/ },
  { status: 412, name: 'PreconditionFailed', code: REFUSED, says: /^the store refuses a request/ },
  { status: 301, name: 'PermanentRedirect', code: REFUSED, says: /^the store has another region/ },
  { status: 307, name: 'TemporaryRedirect', code: REFUSED, says: /^the store refuses a request/ },
  { status: 429, name: 'TooManyRequests', code: UNREACHABLE, says: /^the store does not answer/ },
  { status: 500, name: 'InternalError', code: UNREACHABLE, says: /^the store does not answer/ },
  { status: 501, name: 'NotImplemented', code: UNREACHABLE, says: /^the store does not answer/ },
  { status: 503, name: 'SlowDown', code: UNREACHABLE, says: /^the store does not answer/ },
  { status: 507, name: 'InsufficientStorage', code: REFUSED, says: /^the store is full/ },
]

/** What fails is not tried again. */
function hasty(lake: TestLake): LakeTarget {
  const settings = lakeSettingsOf(lake)
  return requireWhole({ ...settings, store: { ...settings.store, retrySeconds: 0 } })
}

lakeTest('each answer of a store is told with its status and the code of the store', async () => {
  await using lake = await withLake()
  const target = hasty(lake)
  const { database, sessionKeys } = await LakeEngine.open(target, { applicationName: 'test' })
  await using _database = database
  await using connection = await database.connect(sessionKeys)
  const object = `${lake.data}mart/sales/ducklake-1.parquet`
  const read = sql`FROM read_parquet(${sql.value(object)})`
  const write = sql`COPY (SELECT 1 AS n) TO ${sql.value(object)}`
  for (const { status, name, code, says } of rows) {
    lake.store.refuseWith = status
    lake.store.refuseCode = name
    for (const statement of [read, write]) {
      const error = explainLake(await refusalOf(connection.run(statement)), target)
      assert.instance(error, EnvironmentError, `${status} ${name}: ${String(error)}`)
      const { code: given, message, hint } = error as EnvironmentError
      assert.is(given, code, `${status} ${name}: ${message}`)
      assert.match(message, says)
      // A reader may have asked by HEAD, and the answer to that has no body.
      const isNamed = statement === write || message.includes(name)
      assert.ok(message.endsWith(`(HTTP ${status}${isNamed ? ` ${name}`.trimEnd() : ''})`), message)
      assert.ok(hint, message)
    }
  }
})

lakeTest('what another server answers to a model is not an answer of the store', async () => {
  await using lake = await withLake()
  const target = hasty(lake)
  const { database, sessionKeys } = await LakeEngine.open(target, { applicationName: 'test' })
  await using _database = database
  await using connection = await database.connect(sessionKeys)
  lake.store.refuseWith = 409
  const url = sql.value(`http://127.0.0.1:${lake.store.port}/prices.parquet`)
  const error = await refusalOf(connection.run(sql`FROM read_parquet(${url})`))
  assert.instance(explainLake(error, target), DatabaseError)
})

lakeTest('a token that has run out ends a query with exit code 3 and what to do', async () => {
  await using lake = await withLake()
  const models = { 'models/mart/one.sql': 'SELECT 1 AS n\n' }
  await using space = await lakeProject(lake, models, lake.env, { s3_retry_seconds: '0' })
  await space.ok(['run'])
  lake.store.refuseWith = 400
  lake.store.refuseCode = 'ExpiredToken'
  const { stderr } = await space.ok(['query', 'FROM mart.one'], { exitCode: 3 })
  assert.match(stderr, /^error: the token of the key has run out .*HTTP 400 ExpiredToken\)$/m)
  assert.match(stderr, /^hint: .*LAKE_S3_TOKEN/m)
})

test.run()
