import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { hostileQueries } from '../../support/hostile-queries.ts'
import { serve } from '../../support/odata-service.ts'

const things = {
  model: 'shop.things',
  key: ['id'],
  rows: sql`SELECT * FROM (VALUES (1, 'a', CAST(1.5 AS DECIMAL(9,2)), DATE '2024-02-29'), (2, NULL, NULL, NULL)) AS v(id, name, price, day)`,
}

test('hostile requests are answered soon and leave the service as it was', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [things])
  const one = await served.get('shop_things(1)')
  for (const [name, status, query] of hostileQueries) {
    const startedAt = performance.now()
    const { status: answered, text } = await served.get(
      `shop_things?${query.replaceAll(' ', '%20')}`,
    )
    // The bound on an idle machine is 100 ms; what grows with the square of the request takes far longer.
    const ms = performance.now() - startedAt
    assert.is(answered, status, `${name}: ${text.slice(0, 200)}`)
    assert.ok(ms < 5_000, `${name}: ${ms} ms`)
    if (status !== 200)
      assert.ok((JSON.parse(text) as { error: { code: string } }).error.code, name)
  }
  assert.is((await served.get('shop_things(1)')).text, one.text)
})

test('what is no text is refused', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [things])
  for (const broken of [
    '%',
    '%2',
    '%zz',
    '%ff',
    '%c3',
    '%ed%a0%80',
    '%ed%bf%bf',
    '%c0%80',
    '%f8%88%80%80%80',
  ]) {
    for (const target of [
      `shop_things?$filter=name%20eq%20'${broken}'`,
      `shop_things?$search=${broken}`,
      `shop_things?${broken}=1`,
      `shop_things('${broken}')`,
      `shop_things?$apply=filter(name%20eq%20'${broken}')`,
    ]) {
      const { status, text } = await served.get(target)
      assert.is(status, 400, target)
      assert.is((JSON.parse(text) as { error: { code: string } }).error.code, 'invalid-url', target)
    }
  }
})

test.run()
