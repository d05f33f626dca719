// Values and entities of megabytes: they go out in parts, and are whole.

import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { type Answer, type Served, serve } from '../../support/odata-service.ts'
import { publish, type Table } from '../../support/snapshot-files.ts'

// Letters of three bytes, quotes and ends of lines: none of them begins where a part does.
const UNIT = 'x€"\\\n'
const LONG = UNIT.repeat(300_000)
const CHILDREN = 3_000

const texts: Table = {
  model: 'shop.texts',
  key: ['text_id'],
  rows: sql`SELECT i AS text_id, CASE i WHEN 1 THEN repeat(${sql.value(UNIT)}, 300000) WHEN 2 THEN '' END AS note,
    CASE i WHEN 1 THEN CAST(repeat('ab,', 1000001) AS BLOB) WHEN 2 THEN CAST('' AS BLOB) END AS bytes,
    {'note': repeat('y', CASE i WHEN 1 THEN 3000000 ELSE 1 END), 'n': i} AS object
    FROM range(1, 4) AS r(i)`,
}
const notes: Table = {
  model: 'shop.notes',
  key: ['note_id'],
  rows: sql`SELECT i AS note_id, 1::BIGINT AS text_id, repeat('z', 1000) AS words FROM range(${sql.value(CHILDREN)}) AS r(i)`,
}

/** In parts: a body of one piece has its length in the head. */
function requireParts(answer: Answer, what: string): Answer {
  assert.is(answer.status, 200, what)
  assert.is(answer.aborted, false, what)
  assert.is(answer.headers['content-length'], undefined, `${what} came in one piece`)
  return answer
}

const open = async (resources: Resources): Promise<Served> => serve(resources, [texts, notes])

test('a long property is whole, as JSON and alone', async () => {
  await using resources = new Resources()
  const served = await open(resources)
  const get = async (path: string) => requireParts(await served.get(path), path)
  assert.ok((await get('shop_texts(1)/note/$value')).text === LONG)
  assert.ok((await get('shop_texts(1)/note')).json.value === LONG)
  assert.ok((await get('shop_texts(1)/bytes/$value')).text === 'ab,'.repeat(1_000_001))
  assert.is((await get('shop_texts(1)/bytes')).json.value.length, 4_000_004)
  const complex = await get('shop_texts(1)/object')
  assert.equal(Object.keys(complex.json), ['@odata.context', 'note', 'n'])
  assert.is(complex.json.note.length, 3_000_000)
  const bare = await get('shop_texts(1)/object?$format=application/json;odata.metadata=none')
  assert.equal(Object.keys(bare.json), ['note', 'n'])
})

test('an empty value is empty, one that is null is nothing', async () => {
  await using resources = new Resources()
  const served = await open(resources)
  for (const name of ['note', 'bytes']) {
    const empty = await served.get(`shop_texts(2)/${name}/$value`)
    assert.is(empty.status, 200)
    assert.is(empty.text, '')
    assert.is((await served.get(`shop_texts(3)/${name}/$value`)).status, 204)
    assert.is((await served.get(`shop_texts(3)/${name}`)).status, 204)
    assert.is((await served.get(`shop_texts(4)/${name}/$value`)).status, 404)
  }
})

test('an entity with many inside is whole, also compressed and without a body', async () => {
  await using resources = new Resources()
  const served = await open(resources)
  const path = 'shop_texts(1)?$expand=notes'
  const answer = requireParts(await served.get(path), path)
  assert.is(answer.json.notes.length, CHILDREN)
  assert.ok(answer.json.note === LONG)
  const head = await served.send({ target: path, method: 'HEAD' })
  assert.is(head.status, 200)
  assert.is(head.text, '')
  const page = requireParts(await served.get('shop_texts?$expand=notes'), 'page')
  assert.is(page.json.value[0].notes.length, CHILDREN)
})

test('a page ends before a long row that has no position', async () => {
  await using resources = new Resources()
  const served = await open(resources)
  const path = 'shop_texts?$orderby=length(note)&$expand=notes'
  const first = await served.get(path, { prefer: 'maxpagesize=2' })
  assert.is(first.json.value.length, 2)
  const next = first.json['@odata.nextLink'].slice(served.url.length + 1)
  const second = await served.get(next)
  assert.is(second.json.value.length, 1)
  assert.ok(second.json.value[0].note === LONG)
})

test('pages of changes go on behind rows whose keys are too long for a link', async () => {
  await using resources = new Resources()
  const table = (amount: number): Table => ({
    model: 'shop.words',
    key: ['word'],
    rows: sql`SELECT repeat('k', 3000) || i AS word, ${sql.value(amount)} AS amount FROM range(5) AS r(i)`,
  })
  const served = await serve(resources, [table(1)])
  const first = await served.get('shop_words', { prefer: 'track-changes' })
  await publish(served.dir, 'second', [table(2)])
  while ((await served.get('')).headers['eider-snapshot'] !== 'second') await sleep(10)
  const ends: string[] = []
  let link: string | undefined = first.json['@odata.deltaLink']
  while (link !== undefined && ends.length < 9) {
    const { json } = await served.get(link.slice(served.url.length + 1), {
      prefer: 'maxpagesize=2',
    })
    ends.push(...json.value.map(({ word }: { word: string }) => word.slice(-1)))
    link = json['@odata.nextLink']
  }
  assert.equal(ends, ['0', '1', '2', '3', '4'])
})

test('long values in a batch are parts of its JSON', async () => {
  await using resources = new Resources()
  const served = await open(resources)
  const urls = [
    'shop_texts(1)/note/$value',
    'shop_texts(1)/bytes/$value',
    'shop_texts(1)?$expand=notes',
  ]
  const requests = urls.map((url, i) => ({ id: String(i), method: 'GET', url }))
  const answer = await served.send({
    target: '$batch',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ requests }),
  })
  const [text, bytes, entity] = answer.json.responses.map(({ body }: { body: unknown }) => body)
  assert.ok(text === LONG)
  assert.ok(Buffer.from(bytes, 'base64url').toString() === 'ab,'.repeat(1_000_001))
  assert.is(entity.notes.length, CHILDREN)
})

test.run()
