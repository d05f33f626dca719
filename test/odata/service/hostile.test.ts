import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { serve } from './publish.ts'

const things = {
  model: 'shop.things',
  key: ['id'],
  rows: sql`SELECT * FROM (VALUES (1, 'a', CAST(1.5 AS DECIMAL(9,2)), DATE '2024-02-29'), (2, NULL, NULL, NULL)) AS v(id, name, price, day)`,
}

const times = (count: number, text: string) => text.repeat(count)
const list = (count: number, text: string, separator: string) =>
  Array.from({ length: count }, () => text).join(separator)
const within = (depth: number, open: string, inner: string, close: string) =>
  times(depth, open) + inner + times(depth, close)

/** Requests by what they do; the status is that of the answer. */
const requests: readonly (readonly [name: string, status: number, query: string])[] = [
  ['1,000 clauses', 200, `$filter=${list(1000, "name eq 'abc'", ' or ')}`],
  ['3,000 items', 200, `$filter=id in (${list(3000, '1', ',')})`],
  ['5,000 additions', 400, `$filter=price${times(5000, ' add 1')} eq 1`],
  ['32,000 digits', 200, `$filter=price lt ${times(32_000, '9')}`],
  ['400 digits', 200, `$filter=price lt ${times(400, '9')}.5 and id gt -${times(400, '9')}`],
  ['an exponent of 400 digits', 200, `$filter=price lt 1e${times(400, '9')}`],
  ['200 parentheses', 400, `$filter=${within(200, '(', 'id eq 1', ')')}`],
  ['3,000 parentheses', 400, `$filter=${within(3000, '(', 'id eq 1', ')')}`],
  ['200 calls', 400, `$filter=${within(200, 'tolower(', 'name', ')')} eq 'a'`],
  ['90 open calls', 400, `$filter=${times(90, 'tolower(')}name`],
  ['90 open groups', 400, `$apply=${times(45, 'groupby((id),')}`],
  ['30,000 minus signs', 400, `$filter=${times(30_000, '-')}1 eq 1`],
  ['2,000 not', 400, `$filter=${times(2000, 'not ')}true`],
  ['a text of 32,000 characters', 200, `$filter=name eq '${times(32_000, 'x')}'`],
  ['a text without an end', 400, `$filter=name eq '${times(32_000, 'x')}`],
  ['a search of 6,000 words', 400, `$search=${list(6000, 'ab', ' ')}`],
  ['a search of 1,000 words', 200, `$search=${list(1000, 'ab', ' ')}`],
  ['an order of 4,000 names', 400, `$orderby=${list(4000, 'id', ',')}`],
  ['8,000 names', 200, `$select=${list(5000, 'id', ',')}`],
  [
    'transformations',
    400,
    `$apply=${list(1000, 'identity', '/')}/${list(200, 'filter(true)', '/')}`,
  ],
  ['concat of concat', 400, `$apply=${list(40, 'concat(identity,identity)', '/')}`],
  ['an expansion in 80 others', 400, `$expand=${within(80, 'a($expand=', 'b', ')')}`],
  ['80 open expansions', 400, `$expand=${times(80, 'a($expand=')}`],
  ['an order of 4,000 names in an expansion', 400, `$expand=a($orderby=${list(4000, 'id', ',')})`],
  ['5,000 expansions', 400, `$expand=${list(5000, 'a', ',')}`],
  ['90 KB of nothing', 400, `$filter=${times(30_000, ' ')}`],
  ['90 KB of a custom option', 200, `x=${times(90_000, 'x')}`],
  ['5,000 options', 200, list(5000, 'x=1', '&')],
  ['a broken regular expression', 400, "$filter=matchesPattern(name,'(a')"],
  ['a slow regular expression', 200, "$filter=matchesPattern(name,'(a+)+$')"],
  ['the year 0', 400, '$filter=day eq 0000-01-01'],
  ['the year 99999', 400, '$filter=day eq 99999-01-01'],
  ['a day that is not', 400, '$filter=day eq 2023-02-29'],
  ['a NUL', 200, "$filter=name eq 'a%00b'"],
]

test('hostile requests are answered soon and leave the service as it was', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [things])
  const one = await served.get('shop_things(1)')
  for (const [name, status, query] of requests) {
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
