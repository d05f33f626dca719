import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { hostileQueries } from '../../support/hostile-queries.ts'
import { openService } from '../../support/odata-service.ts'
import { testsSharing } from '../../support/shared.ts'

const things = {
  model: 'shop.things',
  key: ['id'],
  rows: sql`SELECT * FROM (VALUES (1, 'a', CAST(1.5 AS DECIMAL(9,2)), DATE '2024-02-29'), (2, NULL, NULL, NULL)) AS v(id, name, price, day)`,
}

const onThings = testsSharing(() => openService([things]))

for (const [name, status, query] of hostileQueries)
  onThings(`hostile requests are answered soon: ${name}`, async (served) => {
    const startedAt = performance.now()
    const target = `shop_things?${query.replaceAll(' ', '%20')}`
    const { status: answered, text } = await served.get(target)
    // The bound on an idle machine is 100 ms; what grows with the square of the request takes far longer.
    const ms = performance.now() - startedAt
    assert.is(answered, status, text.slice(0, 200))
    assert.ok(ms < 5_000, `${ms} ms`)
    if (status !== 200) assert.ok((JSON.parse(text) as { error: { code: string } }).error.code)
  })

const broken = [
  '%',
  '%2',
  '%zz',
  '%ff',
  '%c3',
  '%ed%a0%80',
  '%ed%bf%bf',
  '%c0%80',
  '%f8%88%80%80%80',
]
const broadly = (text: string) => [
  `shop_things?$filter=name%20eq%20'${text}'`,
  `shop_things?$search=${text}`,
  `shop_things?${text}=1`,
  `shop_things('${text}')`,
  `shop_things?$apply=filter(name%20eq%20'${text}')`,
]
for (const target of broken.flatMap(broadly))
  onThings(`what is no text is refused: ${target}`, async (served) => {
    const { status, text } = await served.get(target)
    assert.is(status, 400)
    assert.is((JSON.parse(text) as { error: { code: string } }).error.code, 'invalid-url')
  })

onThings('after all of it the service is as it was', async (served) => {
  assert.is((await served.get('shop_things(1)')).json.name, 'a')
  assert.is((await served.get('shop_things/$count')).text, '2')
})

test.run()
