// Text that tries to become SQL, through every door of the service and on the real engine. It is refused, or it is a
// value: then the answer has just the rows that the specification gives for that value.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { type Answer, type Asked, serve } from '../../support/odata-service.ts'

const SECRET = 'secret-7f3a'

/** The last set is named by no request below, so its rows must not show. */
const tables = [
  {
    model: 'shop.things',
    key: ['id'],
    rows: sql`SELECT * FROM (VALUES (1, 'a', 10), (2, 'b''c', 20), (3, NULL, NULL)) AS v(id, name, price)`,
  },
  { model: 'shop.parts', key: ['part'], rows: sql`SELECT 7 AS part, 1 AS id, 'x' AS kind` },
  { model: 'vault.keys', key: ['k'], rows: sql`SELECT 1 AS k, ${sql.value(SECRET)} AS secret` },
]

const attacks: readonly string[] = [
  "' OR '1'='1",
  "' OR 1=1 --",
  "'; DROP TABLE main.rows; --",
  `' UNION ALL SELECT 1, secret, 2 FROM "vault_keys"."main"."rows" --`,
  `" FROM "vault_keys"."main"."rows" --`,
  `"; ATTACH '/etc/passwd' AS x; --`,
  "') OR EXISTS (SELECT 1 FROM vault_keys.main.rows) --",
  '$1',
  '$$ || (SELECT secret FROM vault_keys.main.rows) || $$',
  "\\' OR 1=1 --",
  '\u2019 OR \u20191\u2019=\u20191',
  "\u0000' OR 1=1 --",
  '%27%20OR%20%271%27%3D%271',
  "a' || read_text('/etc/passwd') || '",
  '1); SELECT secret FROM vault_keys.main.rows; --',
  '{{secret}}${secret}#{secret}',
  "'||(SELECT secret FROM vault_keys.main.rows)||'",
  "]}' , secret",
  '\u001f,\u001f',
]

const encoded = (text: string) => encodeURIComponent(text)
const quoted = (text: string) => encoded(`'${text.replaceAll("'", "''")}'`)
const asHeader = (text: string) => text.replace(/[^ -~]/gu, '?')
const long = Array.from({ length: 150 }, (_, i) => `'${i}'`).join(',')

/** Where the text is a value that no row has: the answer must have no rows. */
const values: readonly ((text: string) => Asked)[] = [
  (text) => ({ target: `shop_things?$filter=name eq ${quoted(text)}` }),
  (text) => ({ target: `shop_things?$filter=name in (${quoted(text)},'zz')` }),
  (text) => ({ target: `shop_things?$filter=name in (${quoted(text)},${long})` }),
  (text) => ({ target: `shop_things?$filter=startswith(name,${quoted(text)})` }),
  (text) => ({ target: `shop_things?$filter=concat(name,${quoted(text)}) eq 'a'` }),
  (text) => ({ target: `shop_things?$filter=name eq @p&@p=${quoted(text)}` }),
  (text) => ({ target: `shop_things?$filter=parts/any(p:p/kind eq ${quoted(text)})` }),
  (text) => ({ target: `shop_things?$filter=case(name eq ${quoted(text)}:true,true:false)` }),
  (text) => ({ target: `shop_things?$search=${encoded(`"${text.replaceAll('"', '')}"`)}` }),
  (text) => ({ target: `shop_things?$apply=filter(name eq ${quoted(text)})/groupby((name))` }),
  (text) => ({ target: `shop_things?$compute=concat(name,${quoted(text)}) as c&$filter=c eq 'a'` }),
  (text) => ({
    target: 'shop_things/$query',
    method: 'POST',
    headers: { 'Content-Type': 'text/plain' },
    body: `$filter=name eq ${quoted(text)}`,
  }),
]

/** Where it is a name, a number or a word: whatever is not refused must not bring more than is asked for. */
const others: readonly ((text: string) => Asked)[] = [
  (text) => ({ target: encoded(text) }),
  (text) => ({ target: `shop_things${encoded(text)}` }),
  (text) => ({ target: `shop_things(${encoded(text)})` }),
  (text) => ({ target: `shop_things(id=${encoded(text)})` }),
  (text) => ({ target: `shop_things(${encoded(text)}=1)` }),
  (text) => ({ target: `shop_things(1)/${encoded(text)}` }),
  (text) => ({ target: `$entity?$id=${encoded(`shop_things(${text})`)}` }),
  (text) => ({ target: `shop_things?$select=${encoded(text)}` }),
  (text) => ({ target: `shop_things?$orderby=${encoded(`id ${text}`)}` }),
  (text) => ({ target: `shop_things?$orderby=concat(name,${quoted(text)})` }),
  (text) => ({ target: `shop_things?$top=${encoded(`1 ${text}`)}` }),
  (text) => ({ target: `shop_things?$skip=${encoded(text)}` }),
  (text) => ({ target: `shop_things?$count=${encoded(text)}` }),
  (text) => ({ target: `shop_things?$format=${encoded(text)}` }),
  (text) => ({ target: `shop_things?$skiptoken=${encoded(text)}` }),
  (text) => ({ target: `shop_things?$expand=${encoded(text)}` }),
  (text) => ({ target: `shop_things?$expand=parts($filter=kind eq ${quoted(text)})` }),
  (text) => ({ target: `shop_things?$expand=parts($select=${encoded(text)})` }),
  (text) => ({ target: `shop_things?$compute=${encoded(`id as ${text}`)}` }),
  (text) => ({ target: `shop_things?$compute=${quoted(text)} as c&$select=c` }),
  (text) => ({ target: `shop_things?$apply=${encoded(`aggregate(price with ${text} as x)`)}` }),
  (text) => ({ target: `shop_things?$apply=${encoded(`aggregate(price with sum as ${text})`)}` }),
  (text) => ({ target: `shop_things?$apply=${encoded(`groupby((${text}))`)}` }),
  (text) => ({ target: `shop_things?$filter=${encoded(text)}` }),
  (text) => ({ target: `shop_things?$filter=${encoded(`cast(id,${text}) eq 1`)}` }),
  (text) => ({ target: `shop_things?$filter=matchesPattern(name,${quoted(text)})` }),
  (text) => ({ target: `shop_things?$filter=id eq @${encoded(text)}` }),
  (text) => ({ target: `shop_things?@p=${encoded(text)}` }),
  (text) => ({ target: `shop_things?${encoded(text)}=1` }),
  ...[
    'Accept',
    'Prefer',
    'OData-MaxVersion',
    'If-None-Match',
    'Accept-Language',
    'Authorization',
  ].map((name) => (text: string) => ({
    target: 'shop_things',
    headers: { [name]: asHeader(text) },
  })),
  (text) => batch({ id: text, method: 'GET', url: 'shop_things' }),
  (text) => batch({ id: '1', method: text, url: 'shop_things' }),
  (text) => batch({ id: '1', method: 'GET', url: `shop_things?$filter=name eq ${quoted(text)}` }),
  (text) => batch({ id: '1', method: 'GET', url: text }),
  (text) => batch({ id: '1', method: 'GET', url: 'shop_things', headers: { accept: text } }),
  (text) => batch({ id: '1', method: 'GET', url: 'shop_things', dependsOn: [text] }),
]

const batch = (request: object): Asked => ({
  target: '$batch',
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ requests: [request] }),
})

/** Neither the secret nor a file nor words of the engine, unless they are a part of what was sent. */
function checkText({ text, status }: Answer, what: string) {
  assert.not.match(text, SECRET, what)
  assert.not.match(text, /root:[^"]*:0:0/, what)
  if (status >= 400)
    assert.not.match(text, /\b(?:binder|catalog|conversion|io) error|duckdb/i, what)
}

test('text that tries to be SQL is refused or a value', async () => {
  await using resources = new Resources()
  const served = await serve(resources, tables)
  const whole = await served.get('shop_things')
  let answered = 0
  for (const attack of attacks) {
    for (const door of values) {
      const asked = door(attack)
      const what = JSON.stringify(asked)
      const answer = await served.send({ ...asked, target: asked.target!.replaceAll(' ', '%20') })
      checkText(answer, what)
      if (answer.status === 200) {
        assert.equal(answer.json.value, [], what)
        answered++
      } else assert.ok([400, 404].includes(answer.status), `${what}: ${answer.status}`)
    }
    for (const door of others) {
      const asked = door(attack)
      const what = JSON.stringify(asked)
      const answer = await served.send({ ...asked, target: asked.target!.replaceAll(' ', '%20') })
      checkText(answer, what)
      assert.ok(answer.status < 500 || answer.status === 501, `${what}: ${answer.status}`)
      if (answer.status !== 200 || asked.target === '$batch') continue
      const { value } = answer.json as { readonly value?: readonly unknown[] }
      assert.ok((value?.length ?? 0) <= 3, what)
    }
  }
  assert.ok(answered > attacks.length * 8, `${answered} answers`)
  assert.is((await served.get('shop_things')).text, whole.text)
  assert.is(served.log.filter(({ event }) => event === 'request-failed').length, 0)
})

test('a text is found that looks like SQL, and nothing else', async () => {
  await using resources = new Resources()
  const rows = sql.join(
    attacks
      .filter((text) => !text.includes('\u0000'))
      .map(
        (text, i) =>
          sql`SELECT CAST(${sql.value(String(i))} AS INTEGER) AS id, ${sql.value(text)} AS name`,
      ),
    sql` UNION ALL `,
  )
  const served = await serve(resources, [{ model: 'shop.texts', key: ['id'], rows }])
  for (const [i, text] of attacks.filter((each) => !each.includes('\u0000')).entries()) {
    for (const filter of [
      `name eq ${quoted(text)}`,
      `name in (${quoted(text)})`,
      `name in (${quoted(text)},${long})`,
      `contains(name,${quoted(text)}) and length(name) eq length(${quoted(text)})`,
    ]) {
      const { json } = await served.get(`shop_texts?$filter=${filter.replaceAll(' ', '%20')}`)
      assert.equal(json.value, [{ id: i, name: text }], filter)
    }
  }
})

test('a text of nothing but quotes or characters that no statement can have is a value', async () => {
  await using resources = new Resources()
  const served = await serve(resources, tables)
  for (const text of ["'".repeat(2_000), '\u0000'.repeat(2_000), "\u0000'\u0000".repeat(700)]) {
    const compute = `$compute=${quoted(text)}%20as%20out&$select=id,out&$top=1`
    assert.equal((await served.get(`shop_things?${compute}`)).json.value, [{ id: 1, out: text }])
    const items = encoded(`[${JSON.stringify(text)},"a"]`)
    const found = await served.get(`shop_things?$filter=name%20in%20${items}&$select=id`)
    assert.equal(found.json.value, [{ id: 1 }])
  }
})

test.run()
