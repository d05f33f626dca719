import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../../src/core/failures.ts'
import type { LakeTarget } from '../../../src/core/lake.ts'
import { toDatabaseError } from '../../../src/duckdb/errors.ts'
import { problemIn } from '../../../src/pipeline/failure.ts'
import { explainLake } from '../../../src/store/lake/failures.ts'

const lake = {
  catalog: { user: 'eider', host: 'db', port: 5432, database: 'lake' },
  schema: 'shop',
} as unknown as LakeTarget

/** As the engine says it, an error within an error. */
const failedRollback =
  '{"exception_type":"TransactionContext","exception_message":"Failed to commit: {\\"exception_type\\":\\"Invalid\\",\\"exception_message\\":\\"Failed to execute query \\\\\\"ROLLBACK\\\\\\": \\"}"}'

test('a connection that is cut while a transaction ends is PostgreSQL that does not answer', () => {
  const found = explainLake(toDatabaseError(new Error(failedRollback)), lake)
  assert.instance(found, EnvironmentError)
  const { code, message } = found as EnvironmentError
  assert.is(code, 'lake-unreachable')
  assert.match(message, /: the connection was lost$/)
})

test('a commit that fails tells the reason, which DuckLake gives on the second line', () => {
  const text = 'Failed to commit: Failed to commit DuckLake transaction.\nno more room\nmore'
  assert.is(problemIn(toDatabaseError(new Error(text))), 'Failed to commit: no more room')
})

test.run()
