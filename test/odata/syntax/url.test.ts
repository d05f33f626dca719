import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { parseRequest } from '../../../src/odata/syntax/parse-request.ts'
import { InMemoryTables, ROOT } from '../../support/in-memory-tables.ts'
import { requestTests } from '../../support/request-tests.ts'

const onShop = requestTests()

test('paths name the service, its metadata, a set, an entity or a count', async () => {
  await using fixture = await InMemoryTables.open()
  const kind = (target: string) => fixture.bind(target).kind
  assert.is(kind(''), 'service-document')
  assert.is(kind('/'), 'service-document')
  assert.is(kind('?$format=json'), 'service-document')
  assert.is(kind('/$metadata'), 'metadata')
  assert.is(kind('%24metadata'), 'metadata')
  assert.is(kind('shop_customers'), 'collection')
  assert.is(kind('/shop_customers/'), 'collection')
  assert.is(kind('shop_customers(1)'), 'entity')
  assert.is(kind('shop_customers/%24count'), 'count')
  assert.is(kind('shop_customers(1)/name'), 'property')
  assert.is(kind('shop_customers(1)/orders'), 'collection')
  assert.is(kind('shop_orders(10)/customer/'), 'entity')
  const missing = [
    'nope',
    'shop_Customers',
    'shop.customers',
    'SHOP_CUSTOMERS',
    '..',
    '../../etc/passwd',
    '$batch',
    '$nope',
  ]
  missing.push(
    'shop_customers//',
    'shop_customers(1)/nope',
    "'x'",
    'shop_customers)',
    '$metadata/x',
  )
  for (const target of missing) assert.is(fixture.refusal(target).status, 404, target)
  assert.match(fixture.refusal('shop_custmers').message, /did you mean "shop_customers"/)
  const known = ['shop_customers/$query']
  for (const target of known) assert.is(fixture.refusal(target).status, 501, target)
})

onShop('Q034, Q116: keys are found in each of their forms, and refused in others', (t) => {
  t.answers([
    ['shop_customers(3)', '3'],
    ['shop_customers(customer_id=3)', '3'],
    ['shop_customers(99)', ''],
    ['shop_items(order_id=10,line=2)?$select=product', 'b'],
    ['shop_items(line=2,order_id=10)?$select=product', 'b'],
  ])
  const wrong = [
    "('3')",
    '(abc)',
    '(null)',
    '()',
    '(1,2)',
    '(name=1)',
    '(customer_id=1,customer_id=1)',
    '(1 eq 1)',
    '(1',
    '(99999999999999999999)',
    "('')",
  ]
  t.refusesTargets(wrong.map((key) => [`shop_customers${encodeURI(key)}`, 400]))
  t.refusesTargets(
    ['(10)', '(order_id=10)', '(order_id=10,line=1,product=1)'].map((key) => [
      `shop_items${key}`,
      'invalid-key',
    ]),
  )
  t.test(async (fixture) => {
    assert.is(await fixture.first('shop_customers( 3 )'.replaceAll(' ', '%20')), '3')
    const keyless = fixture.refusal('shop_log(1)')
    assert.equal([keyless.status, keyless.code], [404, 'no-key'])
    assert.match(keyless.message, /@expose <column>/)
  })
})

test('text keys are decoded once, after the path is split', async () => {
  const { sql } = await import('../../../src/core/sql.ts')
  const rows = sql`SELECT * FROM (VALUES ('a/b'), ('a%2Fb'), ('O''Neil'), (''), ('a+b'), ('q?#&='), ('ü')) AS v(k)`
  await using fixture = await InMemoryTables.open([{ model: 't.texts', key: ['k'], rows }])
  for (const key of ['a/b', 'a%2Fb', "O'Neil", '', 'a+b', 'q?#&=', 'ü']) {
    const quoted = encodeURIComponent(`'${key.replaceAll("'", "''")}'`)
    assert.is(await fixture.first(`t_texts(${quoted})`), key)
    assert.is(await fixture.first(`t_texts(k=${quoted})`), key)
  }
  assert.is(await fixture.first("t_texts('a+b')"), 'a+b', 'a plus in the path is a plus')
  assert.is(await fixture.first("t_texts?$filter=k eq 'a%2Bb'"), 'a+b')
  assert.is(await fixture.first("t_texts?$filter=k eq 'a+b'"), '', 'a plus in the query is a space')
  assert.is(await fixture.first("t_texts('x'' OR ''1''=''1')".replaceAll(' ', '%20')), '')
})

onShop(
  'Q037, Q038: option names in any letter case, with and without $; plus and %20 are spaces',
  (t) => {
    const filters = ['$filter', '%24filter', 'filter', '$FILTER', 'Filter']
    t.answers([
      ['shop_customers?TOP=1&Skip=1', '2'],
      ['shop_customers?custom=1&custom=2&&x', '1 2 3 4 5'],
    ])
    t.test(async (fixture) => {
      for (const name of filters)
        assert.is(await fixture.first(`shop_customers?${name}=vip+eq%20true`), '1 3', name)
    })
  },
)

test('Q120, Q123: options that are double, empty, unknown, unsupported or out of place', async () => {
  await using fixture = await InMemoryTables.open()
  const code = (target: string) => {
    const refusal = fixture.refusal(target)
    return `${refusal.status} ${refusal.code}`
  }
  assert.is(code('shop_customers?$top=1&top=1'), '400 duplicate-option')
  assert.is(code('shop_customers?$top=1&%24TOP=1'), '400 duplicate-option')
  assert.is(code('shop_customers?$filter='), '400 invalid-option-value')
  assert.is(code('shop_customers?$filter'), '400 invalid-option-value')
  assert.is(code('shop_customers?$foo=1'), '400 unknown-option')
  assert.is(code('shop_customers?$=1'), '400 unknown-option')
  assert.is(code('shop_customers?$levels=2'), '400 unknown-option')
  assert.is(code('shop_customers?$schemaversion=1'), '501 not-supported')
  assert.is(code('shop_customers?$index=-1'), '501 not-supported')
  assert.is(code('shop_customers?$index=first'), '400 invalid-option-value')
  assert.is(code('shop_customers(1)?$deltatoken=1'), '400 option-not-allowed')
  assert.is(code('shop_customers(1)?$top=1'), '400 option-not-allowed')
  assert.is(code('shop_customers(1)?$filter=vip'), '400 option-not-allowed')
  assert.is(code('shop_customers/$count?$select=name'), '400 option-not-allowed')
  assert.is(code('shop_customers/$count?$top=x'), '400 invalid-option-value')
  assert.is(code('?$top=1'), '400 option-not-allowed')
  assert.is(code('$metadata?$filter=vip'), '400 option-not-allowed')
  assert.match(fixture.refusal('shop_customers?$fliter=vip').message, /did you mean "\$filter"/)
})

test('broken percent-encoding is refused', () => {
  for (const target of ['%', 'a%zz', 'a?$filter=%', 'a?%C3=1', 'a?x=%ED%A0%80', 'a(%FF)'])
    assert.throws(
      () => parseRequest(target, ROOT),
      (error: { status: number }) => error.status === 400,
      target,
    )
})

test('messages name the option, the place and what was expected there', async () => {
  await using fixture = await InMemoryTables.open()
  const message = (filter: string) =>
    fixture.refusal(`shop_customers?$filter=${encodeURIComponent(filter)}`).message
  assert.is(message('name eq'), '$filter at the end: expected a value after "eq"')
  assert.is(
    message('name eq 1)'),
    '$filter at character 10: unexpected ")"; expected an operator or the end',
  )
  assert.is(message('name eq )'), '$filter at character 9: unexpected ")"; expected a value')
  assert.is(message('(name eq 1'), '$filter at the end: expected ")"')
  assert.is(
    message("name eq 'x"),
    '$filter at the end: expected a closing quote; within text "&" is written %26, "+" %2B and "#" %23',
  )
  assert.match(
    message('name foo 1'),
    /^\$filter: "foo" is not an operator of OData \(at character 6\)/,
  )
})

onShop('depth and length are limited, quickly and without a crash', (t) => {
  const n = 3_000
  const deep = [
    '('.repeat(n) + 'vip' + ')'.repeat(n),
    '('.repeat(n),
    'not '.repeat(n) + 'vip',
    '-'.repeat(n) + '1 eq 1',
  ]
  deep.push(
    `${'not ('.repeat(n)}vip`,
    'tolower('.repeat(n),
    '['.repeat(n),
    `credit${' add 1'.repeat(n)} gt 1`,
  )
  deep.push(
    `${'case(vip:'.repeat(n)}1`,
    `credit ${'in ('.repeat(n)}`,
    'orders/any(o:'.repeat(n),
    `'${'('.repeat(n)}`,
  )
  deep.push(`"(${'('.repeat(n)}`, `${'not '.repeat(n)}`)
  t.refusesTargets([
    [`shop_customers?$search=${'('.repeat(n)}a${')'.repeat(n)}`, 'expression-too-deep'],
  ])
  t.answers([[`shop_customers?$search=${'NOT '.repeat(n)}paris`, '2']])
  const long = `name eq '${'x'.repeat(limits.optionLengths.wholeExpression)}'`
  t.refusesTargets([[`shop_customers?$filter=${long}`, 'expression-too-long']])
  t.test((fixture) => {
    for (const filter of deep) {
      const startedAt = performance.now()
      assert.is(
        fixture.refusal(`shop_customers?$filter=${encodeURIComponent(filter)}`).status,
        400,
        filter.slice(0, 40),
      )
      assert.ok(performance.now() - startedAt < 5_000, filter.slice(0, 40))
    }
  })
})

onShop('as deep and as long as is allowed works in the engine', (t) => {
  const half = Math.floor(limits.expressionDepth / 2) - 2
  t.finds('shop_customers', [[`${'not ('.repeat(half)}vip${')'.repeat(half)}`, '1 3']])
  const lower = `${'tolower('.repeat(half)}name${')'.repeat(half)} eq 'bob'`
  t.finds('shop_customers', [
    [lower, '2'],
    [`credit${' add 1'.repeat(15)} eq 265.25`, '2'],
  ])
  const divided = `customer_id${' div 1'.repeat(90)} eq 4`
  t.finds('shop_customers', [[divided, '4']])
  const mixed = `${'not (1 add length('.repeat(10)}name${') gt 1)'.repeat(10)}`
  t.refusesTargets([[`shop_customers?$filter=${encodeURIComponent(mixed)}`, 'type-mismatch']])
  const clauses = Array.from({ length: 1_000 }, (_, i) => `customer_id eq ${i + 5}`).join(' or ')
  t.finds('shop_customers', [[clauses, '5']])
  const numbers = Array.from({ length: 5_000 }, (_, i) => i + 4).join(',')
  t.finds('shop_customers', [[`customer_id in (${numbers})`, '4 5']])
})

onShop('names that are put in again and again do not make an endless statement', (t) => {
  const n = 60
  const computed = Array.from({ length: n }, (_, i) => `x${i} add x${i} as x${i + 1}`).join(',')
  const aliases = Array.from({ length: n }, (_, i) => `@a${i}=@a${i + 1} add @a${i + 1}`).join('&')
  const chained = Array.from(
    { length: n },
    (_, i) => `x${i}${' add 1'.repeat(9)} as x${i + 1}`,
  ).join(',')
  const nested = [
    `$compute=credit as x0,${computed}&$filter=x${n} gt 1`,
    `$compute=credit as x0,${chained}&$filter=x${n} gt 1`,
    `$filter=credit gt @a0&${aliases}&@a${n}=1`,
    `$filter=${'substring('.repeat(50)}name${',1)'.repeat(50)} eq 'x'`,
    `$filter=1 eq ${'customer_id div ('.repeat(50)}1${')'.repeat(50)}`,
    `$orderby=${'substring(name,length('.repeat(40)}name${'))'.repeat(40)}`,
    `$compute=orders/$count as x0,${computed}&$orderby=x${n}`,
  ]
  t.answers([
    ['shop_customers?$compute=credit as a,a add a as b,b add b as c&$filter=c gt 3000', '1'],
  ])
  t.test((fixture) => {
    for (const query of nested) {
      const startedAt = performance.now()
      const { status, code } = fixture.refusal(`shop_customers?${query.replaceAll(' ', '%20')}`)
      assert.equal([status, code], [400, 'expression-too-deep'], query.slice(0, 60))
      assert.ok(performance.now() - startedAt < 5_000, query.slice(0, 60))
    }
  })
})

test.run()
