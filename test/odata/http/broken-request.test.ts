// A request whose body turns out to be no HTTP while its answer is being made.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { serve } from '../../support/odata-service.ts'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'

const numbers = {
  model: 'shop.numbers',
  key: ['id'],
  rows: sql`SELECT i AS id FROM range(9) AS r(i)`,
}

test('it is refused once, and its answer, which comes too late, is no failure', async () => {
  const resources = new Resources()
  const { url, log } = await serve(resources, [numbers])
  try {
    await using client = await RawClient.open(url)
    const head = 'GET /odata/shop_numbers?$top=5 HTTP/1.1\r\nHost: localhost\r\n'
    client.send(`${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`)
    assert.is((await client.answer())!.status, 400)
    assert.ok(await client.closes())
    assert.is(client.received, '')
    await until(() => log.some(({ event }) => event === 'request'))
  } finally {
    // It waits for the query.
    await resources[Symbol.asyncDispose]()
  }
  const failures = log.filter(({ level }) => level === 'error')
  assert.equal(failures, [])
  const [line] = log.filter(({ event }) => event === 'request')
  assert.is(line!.fields['status'], 400)
})

test.run()
