// Web pages of other origins read only when the setting names them.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { UsageError } from '../../../src/core/failures.ts'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { type Answer, serve } from '../../support/odata-service.ts'
import type { Table } from '../../support/snapshot-files.ts'

const SHOP = 'https://shop.example'
const things: Table = { model: 'shop.things', key: ['id'], rows: sql`SELECT 1 AS id` }

const allowed = ({ headers }: Answer) => headers['access-control-allow-origin']

test('a page of a listed origin asks first, reads, and sees refusals and the protocol headers', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [things], { corsOrigins: [SHOP], token: 'secret' })
  const preflight = await served.send({
    target: 'shop_things',
    method: 'OPTIONS',
    headers: {
      Origin: SHOP,
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'authorization,odata-maxversion',
    },
  })
  assert.is(preflight.status, 204)
  assert.is(allowed(preflight), SHOP)
  assert.match(preflight.headers['access-control-allow-headers'] ?? '', /Authorization.*OData-Max/)
  assert.match(preflight.headers['access-control-allow-methods'] ?? '', 'POST')

  const headers = { Origin: SHOP, Authorization: 'Bearer secret' }
  const read = await served.get('shop_things', headers)
  assert.equal([read.status, allowed(read)], [200, SHOP])
  assert.match(read.headers['vary'] ?? '', 'Origin')
  assert.match(read.headers['access-control-expose-headers'] ?? '', 'ETag')
  const refused = await served.get('shop_things', { Origin: SHOP })
  assert.equal([refused.status, allowed(refused)], [401, SHOP])
  const other = { ...headers, Origin: 'https://shop.example.evil' }
  assert.is(allowed(await served.get('shop_things', other)), undefined)
})

test('without the setting no page may read, and a setting that lets too many in is refused', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [things])
  const answer = await served.get('shop_things', { Origin: SHOP })
  assert.equal([answer.status, allowed(answer)], [200, undefined])
  for (const wrong of [
    { corsOrigins: ['*'], token: 'secret' },
    { corsOrigins: ['shop.example'] },
    { corsOrigins: [`${SHOP}/`] },
  ])
    try {
      await serve(resources, [things], wrong)
      assert.unreachable(JSON.stringify(wrong))
    } catch (error) {
      assert.instance(error, UsageError)
      assert.match(String(error), 'odata.cors_origins')
    }
})

test.run()
