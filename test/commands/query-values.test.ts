// `eider query` shows values and names as they are, and a query that fails is the mistake of who wrote it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/raw/a.sql': "select 1 as id, 'x' as v\n",
}

test('values and names are shown as they are', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  const sql = `SELECT chr(65279) || 'x' AS a, [chr(65279)] AS l, 7 AS __proto__, 3 AS "constructor"`
  const { stdout } = await space.ok(['query', sql, '--json'])
  assert.is(stdout, '{"a":"\ufeffx","l":["\ufeff"],"__proto__":7,"constructor":3}\n')
  const csv = await space.ok(['query', sql, '--format', 'csv'])
  assert.is(csv.stdout, 'a,l,__proto__,constructor\r\n\ufeffx,"[""\ufeff""]",7,3\r\n')
})

test('a query that cannot be carried out ends with 1 and its error', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  const failures = {
    "SELECT error('boom')": /^query:1:1 error query-failed: boom/,
    [`SELECT '"'::JSON`]: /query-failed: Malformed JSON/,
    "FROM sniff_csv('nothing')": /query:1:16 error query-failed: No files found .* "nothing"/,
    'FROM force_checkpoint()': /query-failed: Cannot FORCE CHECKPOINT/,
    "SELECT 'a'::INT": /query-failed: Could not convert string 'a' to INT32/,
    'SELECT v::INT FROM raw.a': /query-failed: Could not convert string 'x' to INT32/,
    'SELECT 2::UTINYINT - 3::UTINYINT': /query-failed: Overflow/,
    'SELECT (SELECT unnest([1, 2]))': /query-failed: More than one row/,
  }
  for (const [sql, message] of Object.entries(failures)) {
    const { stdout, stderr } = await space.ok(['query', sql], { exitCode: 1 })
    assert.is(stdout, '', sql)
    assert.match(stderr, message)
    assert.not.match(stderr, /bug in eider/)
  }
})

test.run()
