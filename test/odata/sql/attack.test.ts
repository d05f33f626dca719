// Hostile text through every door of the language: it is refused, or it is a value, and never a part of a statement.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { RequestError } from '../../../src/http/request-error.ts'
import { countSql, rowsSql } from '../../../src/odata/sql/query.ts'
import { InMemoryTables } from '../../support/in-memory-tables.ts'
import { shop } from '../../support/odata-tables.ts'

/** In every text, so that it is found wherever it ends up. */
const MARK = 'x7f3a'

const hostile = [
  `${MARK}'; DROP TABLE rows; --`,
  `${MARK}" FROM shop_customers.main.rows --`,
  `${MARK}' OR '1'='1`,
  `${MARK}\\'; SELECT 1; --`,
  `${MARK}/* */ UNION SELECT 1`,
  `${MARK}\u0000'; DROP TABLE rows`,
  `${MARK}\ud800`,
  `${MARK}$1`,
  `${MARK}%' ESCAPE '\\`,
  `${MARK}\u2019; DROP`,
  `${MARK})) OR (1=1`,
  `${MARK}"."main"."rows`,
  `${MARK}e'\\x27`,
  `\u202e${MARK}`,
]

const encode = (text: string) => encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'))
const quoted = (text: string) => encode(`'${text.replaceAll("'", "''")}'`)

const doors: readonly ((text: string) => string)[] = [
  (text) => encode(text),
  (text) => `${encode(text)}(1)`,
  (text) => `shop_customers(${encode(text)})`,
  (text) => `shop_customers(${quoted(text)})`,
  (text) => `shop_customers(${encode(text)}=1)`,
  (text) => `shop_customers/${encode(text)}`,
  (text) => `shop_customers?$filter=name eq ${quoted(text)}`,
  (text) => `shop_customers?$filter=name in (${quoted(text)},null)`,
  (text) => `shop_customers?$filter=contains(name,${quoted(text)})`,
  (text) => `shop_customers?$filter=matchesPattern(name,${quoted(text)})`,
  (text) => `shop_customers?$filter=${encode(text)} eq 1`,
  (text) => `shop_customers?$filter=name eq ${encode(text)}`,
  (text) => `shop_customers?$filter=${encode(text)}(name)`,
  (text) => `shop_customers?$filter=${encode(text)}/any()`,
  (text) => `shop_customers?$filter=orders/any(${encode(text)}:true)`,
  (text) => `shop_customers?$filter=orders/any(o:o/status eq ${quoted(text)})`,
  (text) => `shop_customers?$filter=cast(name,${encode(text)}) eq 1`,
  (text) => `shop_customers?$filter=name eq @a&@a=${quoted(text)}`,
  (text) => `shop_customers?$filter=name eq @${encode(text)}`,
  (text) => `shop_customers?$filter=since eq duration${quoted(text)}`,
  (text) => `shop_customers?$select=${encode(text)}`,
  (text) => `shop_customers?$orderby=${encode(text)}`,
  (text) => `shop_customers?$orderby=name ${encode(text)}`,
  (text) => `shop_customers?$orderby=concat(name,${quoted(text)})`,
  (text) => `shop_customers?$search=${encode(text)}`,
  (text) => `shop_customers?$search=${encode(`"${text}"`)}`,
  (text) => `shop_customers?$compute=${encode(text)} as x`,
  (text) => `shop_customers?$compute=credit add 1 as ${encode(text)}`,
  (text) => `shop_customers?$top=${encode(text)}`,
  (text) => `shop_customers?$skip=1${encode(text)}`,
  (text) => `shop_customers?$count=${encode(text)}`,
  (text) => `shop_customers?$${encode(text)}=1`,
]

test('Q002, Q006, Q007: hostile text is refused or a value', async () => {
  await using fixture = await InMemoryTables.open()
  let ran = 0
  for (const door of doors) {
    for (const text of hostile) {
      const target = door(text)
      let query
      try {
        query = fixture.query(target)
      } catch (error) {
        assert.instance(error, RequestError, target)
        assert.ok([400, 404, 501].includes((error as RequestError).status), target)
        continue
      }
      for (const statement of [rowsSql(query, { offset: 0, limit: null }), countSql(query)]) {
        assert.not.match(statement.prepare().text.replaceAll(`AS "${MARK}`, ''), MARK, target)
        await fixture.run(statement)
        ran++
      }
      assert.ok((await fixture.rows(target)).length <= 5)
    }
  }
  assert.ok(ran > 100, 'many doors let values in')
  assert.is(await fixture.count('shop_customers'), 5)
})

test('names of columns and sets that are hostile or words of a language are only names', async () => {
  const rows = sql`SELECT 1 AS "select", 2 AS "order", 3 AS "desc", 4 AS "eq", 'x' AS "null_", 5 AS "rows", 6 AS "it", 7 AS "not_"`
  await using fixture = await InMemoryTables.open([
    { model: 'main.rows', key: ['select'], rows },
    ...shop,
  ])
  const target =
    'main_rows?$filter=eq eq 4 and order gt 1 and desc in (3) and rows eq 5 and it eq 6 and not_ eq 7'
  assert.is(await fixture.first(`${target}&$orderby=desc desc,order asc`), '1')
  assert.is(await fixture.first('main_rows(1)'), '1')
})

test('a literal with a NUL, quotes and astral characters is found as it is', async () => {
  const rows = sql`SELECT * FROM (VALUES (1, 'a' || chr(0) || 'b'), (2, 'a''b"c\\d'), (3, '😀%_')) AS v(id, t)`
  await using fixture = await InMemoryTables.open([{ model: 't.texts', key: ['id'], rows }])
  assert.is(await fixture.ids('t_texts', "t eq 'a\u0000b'"), '1')
  assert.is(await fixture.ids('t_texts', `t eq 'a''b"c\\d'`), '2')
  assert.is(await fixture.ids('t_texts', "contains(t,'%_')"), '3')
  assert.is(await fixture.ids('t_texts', "endswith(t,'😀%_')"), '3')
})

/** A fixed sequence of numbers below one, so that a failure can be had again. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    yield state / 2 ** 31
  }
}

test('mutations of requests are answered, refused as errors of the caller, or not served', async () => {
  await using fixture = await InMemoryTables.open()
  const seeds = [
    "shop_customers?$filter=contains(name,'li') and (credit gt 10.5 or vip) and customer_id in (1,2)&$orderby=name desc",
    'shop_customers(1)?$select=name,city&$compute=credit mul 2 as x',
    "shop_orders?$filter=customer/name eq 'Alice' or ordered_at lt 2024-01-05T10:30:00Z&$search=a OR (b c)",
    'shop_customers/$count?$filter=orders/any(o:o/amount gt 5) and orders/$count($filter=flags has 1) ge 1',
    "shop_orders?$filter=case(amount gt 5:1,true:cast('2',Edm.Int32)) eq @p&@p=[1,2]&$top=3&$skip=1&$count=true",
  ]
  const pieces = [
    "'",
    '(',
    ')',
    ',',
    ' ',
    '/',
    '%',
    '%27',
    '$',
    '@',
    'null',
    '-',
    '.',
    'e9',
    ':',
    '"',
    '\\',
    'not ',
    ' eq ',
    '&',
    '=',
    '9'.repeat(40),
  ]
  const next = numbers(7)
  const below = (n: number) => Math.floor(next.next().value * n)
  for (let i = 0; i < 3_000; i++) {
    let target = seeds[below(seeds.length)]!
    for (let edits = 1 + below(3); edits > 0; edits--) {
      const at = below(target.length + 1)
      const piece = below(2) === 0 ? '' : pieces[below(pieces.length)]!
      target = target.slice(0, at) + piece + target.slice(at + below(3))
    }
    try {
      const request = fixture.bind(target)
      if ('query' in request && i % 5 === 0)
        await fixture.run(rowsSql(request.query, { offset: 0, limit: 10 }))
    } catch (error) {
      assert.instance(error, RequestError, `${target}: ${String(error)}`)
      const { status, code, message } = error as RequestError
      assert.ok([400, 404, 501].includes(status) && code !== '' && message !== '', target)
    }
  }
})

test.run()
