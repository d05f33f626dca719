// A lookup by key that is answered from a file has the answer of the engine, byte by byte.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import type { Asked, Served } from '../../support/odata-service.ts'
import { bearer, readerToken } from '../../support/reader-token.ts'
import {
  ask,
  AT_ONCE,
  both,
  made,
  metric,
  others,
  requireSame,
  table,
  untilMade,
  version,
} from '../../support/row-files.ts'
import type { Table } from '../../support/snapshot-files.ts'
import { until } from '../../support/until.ts'

/** Those whose keys a file can tell apart. */
const found: readonly Table[] = [
  table('tiny', sql`(i - 20)::TINYINT`),
  table('byte', sql`i::TINYINT`),
  table('small', sql`(i - 20)::SMALLINT`),
  table('int', sql`(i - 120)::INTEGER`, 240),
  table('big', sql`9223372036854775807 - i`),
  table('huge', sql`(i::HUGEINT - 20) * 1000000000000000000000`),
  table('decimal', sql`((i - 20) / 4)::DECIMAL(10,2)`),
  table('uuid', sql`('00000000-0000-4000-ABCD-' || lpad(i::VARCHAR, 12, '0'))::UUID`),
  table('date', sql`DATE '1999-12-20' + i::INTEGER`),
  table('moment', sql`TIMESTAMP '1999-12-31 23:59:50' + to_microseconds(i * 500000)`),
  table('clock', sql`TIME '10:00:00' + to_microseconds(i * 250000)`),
  table(
    'text',
    sql`CASE i WHEN 0 THEN '' WHEN 1 THEN 'O''Neil' WHEN 2 THEN 'a"],{"k' WHEN 3 THEN chr(10) || chr(31)
      WHEN 4 THEN '\\' WHEN 5 THEN '["a"]' WHEN 6 THEN 'a/b?c#d%e' WHEN 7 THEN 'A' WHEN 8 THEN 'a'
      WHEN 9 THEN 'a ' WHEN 10 THEN 'é' WHEN 11 THEN 'e' || chr(769) WHEN 12 THEN chr(127) || chr(8232) || '🙂'
      WHEN 13 THEN '1' WHEN 14 THEN '01' WHEN 15 THEN repeat('x', 5000) ELSE 't' || i END`,
  ),
  {
    model: 'shop.parts',
    key: ['a', 'b', 'c'],
    rows: sql`SELECT (i % 7)::INTEGER AS a, CASE WHEN i % 2 = 0 THEN '1' ELSE '","' END || i AS b,
      DATE '2020-01-01' + (i % 3)::INTEGER AS c, ${others} FROM range(40) AS r(i) ORDER BY a, b, c`,
  },
  {
    model: 'shop.twice',
    key: ['k'],
    rows: sql`SELECT (i // 2)::INTEGER AS k, ${others} FROM range(40) AS r(i) ORDER BY k, i`,
  },
  {
    model: 'shop.unknown',
    key: ['k'],
    rows: sql`SELECT CASE WHEN i % 3 > 0 THEN i::INTEGER END AS k, ${others} FROM range(40) AS r(i) ORDER BY k`,
  },
  {
    model: 'shop.long',
    key: ['k'],
    rows: sql`SELECT i::INTEGER AS k, repeat('é', CASE WHEN i % 2 = 0 THEN 90000 ELSE 9 END) AS t FROM range(9) AS r(i)`,
  },
]

/** Those that the engine answers always. */
const left: readonly Table[] = [
  table('double', sql`CASE i WHEN 0 THEN 'NaN'::DOUBLE WHEN 1 THEN -0.0::DOUBLE ELSE i / 8 END`),
  table('single', sql`(i / 8)::FLOAT`),
  table('fraction', sql`(i / 100)::DECIMAL(2,2)`),
  table('zone', sql`TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_seconds(i)`),
  table('nano', sql`(TIMESTAMP '2020-01-01 00:00:00.123456' + to_seconds(i))::TIMESTAMP_NS`),
  table('bytes', sql`encode('k' || i)`),
  table('flag', sql`i = 1`, 2),
  table('pause', sql`to_seconds(i)`),
  table('enum', sql`('e' || i % 2)::ENUM('e0', 'e1')`, 2),
  table('unsigned', sql`i::UINTEGER`),
  table(
    'beyond',
    sql`CASE WHEN i = 0 THEN DATE '12000-01-01' ELSE DATE '2020-01-01' + i::INTEGER END`,
  ),
]

const nameOf = ({ model }: Table) => model.replace('.', '_')

/** The addresses of all rows, as the service gives them. */
async function addresses(service: Served, set: string): Promise<readonly string[]> {
  const { json } = await ask(service, {
    target: `${set}?$top=300`,
    headers: { Accept: 'application/json;odata.metadata=full' },
  })
  return (json.value as readonly Record<string, string | null>[]).flatMap((row) => {
    const id = row['@odata.id']
    return id == null ? [] : [id.replace(/^.*\/odata\//, '')]
  })
}

/** The same keys as others may write them, and keys that are close to them. */
function spellings(address: string): readonly string[] {
  const [, set = '', key = ''] = /^(\w+)\((.*)\)$/s.exec(address)!
  const written = [address, `${set}(${encodeURIComponent(key)})`, `${set}(%20${key}%20)`]
  if (!key.includes('=') && !key.includes("'")) written.push(`${set}(k=${key})`)
  written.push(`${set}(@p)?@p=${key}`)
  if (/^-?\d+$/.test(key))
    for (const other of [
      `${key}.0`,
      `${key}e0`,
      `${key}.5`,
      key.replace(/^-?/, '$&0'),
      `'${key}'`,
      `${key}9`,
    ])
      written.push(`${set}(${other})`)
  if (/^-?\d+\.\d+$/.test(key))
    for (const end of ['0', '00', '1']) written.push(`${set}(${key}${end})`)
  if (/^[\da-f]{8}-/i.test(key))
    written.push(`${set}(${key.toUpperCase()})`, `${set}(${key.slice(0, -1)}f)`)
  if (key.endsWith('Z'))
    for (const other of ['.000000Z', '000Z', '%2B00:00', '%2B01:00', '.000001Z', 'z'])
      written.push(`${set}(${key.replace(/Z$/, other)})`)
  if (/^\d\d:/.test(key)) written.push(`${set}(${key}0)`, `${set}(${key}.0)`, `${set}(${key}00001)`)
  if (/^'.*'$/s.test(key))
    for (const other of [
      key.toUpperCase(),
      key.toLowerCase(),
      `'%20${key.slice(1)}`,
      `${key.slice(0, -1)}%20'`,
    ])
      written.push(`${set}(${other})`)
  if (key.includes(',c=')) written.push(`${set}(${key.replace(/^(.*),(c=[^,]*)$/s, '$2,$1')})`)
  return written
}

/** What else may be asked of a row. */
const ways: readonly Omit<Asked, 'target'>[] = [
  { headers: { Accept: 'application/json;odata.metadata=none' } },
  { headers: { Accept: 'application/json;odata.metadata=full' } },
  { headers: { Accept: 'application/json;IEEE754Compatible=true' } },
  { headers: { Accept: 'text/csv' } },
  { headers: { Accept: 'application/xml' } },
  { headers: { Accept: '*/*', 'Accept-Encoding': 'gzip' } },
  { headers: { 'Accept-Encoding': 'br;q=1, identity;q=0' } },
  { headers: { 'OData-MaxVersion': '4.0' } },
  { headers: { 'OData-Version': '4.0', 'OData-MaxVersion': '4.01' } },
  { headers: { Prefer: 'omit-values=nulls' } },
  { headers: { 'If-None-Match': '*' } },
  { headers: { 'If-None-Match': 'W/"other"' } },
  { headers: { Range: 'bytes=0-9' } },
  { method: 'HEAD' },
  { method: 'HEAD', headers: { 'Accept-Encoding': 'identity' } },
  { method: 'POST', body: '{}' },
]
const ends = [
  '',
  '?$format=json',
  '?$select=*',
  '?$select=note',
  '?$select=ratio,note',
  '?$select=list,k,object,note',
  '?$select=note,*',
  '?$select=object/a',
  '?$select=beyond,nothing',
  '?$select=note,bytes&$format=application/json;odata.metadata=none',
  '/note',
  '/note/$value',
  '/$ref',
  '/object',
  '/list',
  '?$compute=1%20add%201%20as%20x',
  '?$expand=*',
  '?$top=1',
  '?x=1',
]

/** Texts are odd each in its own way. Of other keys a few are asked for in all spellings, and of the rest each third. */
const isOfTexts = ({ model }: Table) => model === 'shop.text'
const isSpelled = (one: Table, i: number) => i < (isOfTexts(one) ? 8 : 4)
const isAsked = (one: Table, i: number) => isOfTexts(one) || i % 3 === 0

test('rows of sets with keys of all types are answered as by the engine, however their keys are written', async () => {
  await using resources = new Resources()
  const services = await both(resources, [...found, ...left], {
    rowFiles: { ...AT_ONCE, files: 100 },
  })
  const all = new Map<string, readonly string[]>()
  for (const one of [...found, ...left])
    all.set(nameOf(one), await addresses(services.engine, nameOf(one)))
  await untilMade(
    services.ours,
    Array.from(all.values(), ([first]) => first!),
    found.length,
  )
  assert.equal(new Set(made(services.ours)), new Set(found.map(({ model }) => model)))
  const targets = [
    ...found.flatMap((one) =>
      all
        .get(nameOf(one))!
        .flatMap((key, i) => (isSpelled(one, i) ? spellings(key) : isAsked(one, i) ? [key] : [])),
    ),
    // Both services ask the engine for these.
    ...left.flatMap((one) => all.get(nameOf(one))!.slice(0, 2).flatMap(spellings)),
  ]
  assert.ok(targets.length > 1000, `${targets.length}`)
  const before = await metric(services.ours, 'row_file_lookups_total')
  for (const target of targets) await requireSame(services, { target })
  const inFiles = (await metric(services.ours, 'row_file_lookups_total')) - before
  assert.ok(inFiles > 600, `${inFiles}`)
  assert.is(await metric(services.engine, 'row_file_lookups_total'), 0)
  const logged = ({ log }: Served) =>
    log
      .filter(({ event }) => event === 'request')
      .map(({ fields }) => JSON.stringify({ ...fields, ms: 0 }))
      .slice(-1000)
  assert.equal(logged(services.ours).toSorted(), logged(services.engine).toSorted())
})

test('whatever is asked of a row, and in whichever format, the answer is that of the engine', async () => {
  await using resources = new Resources()
  const services = await both(resources, found)
  const names = [
    'shop_int(7)',
    "shop_text('O''Neil')",
    "shop_parts(a=0,b='10',c=2020-01-01)",
    'shop_int(99999)',
  ]
  await untilMade(services.ours, names.slice(0, 3))
  for (const name of names)
    for (const end of ends) {
      const target = `${name}${end}`
      const all = name === names[0] || end === '' ? [{}, ...ways] : [{}]
      for (const way of all) await requireSame(services, { target, ...way })
      // It differs from one that was answered before in the key alone.
      if (name === names[0]) await requireSame(services, { target: `shop_int(8)${end}` })
      const { headers } = await ask(services.engine, { target })
      if (headers['etag'] !== undefined)
        await requireSame(services, { target, headers: { 'If-None-Match': headers['etag'] } })
    }
})

test('parts of each row are what the engine writes of it', async () => {
  await using resources = new Resources()
  const text = table('text', sql`CASE WHEN i % 2 = 0 THEN 'k' || i ELSE '}"],[\\' || i END`)
  const services = await both(resources, [text, table('int', sql`i::INTEGER`)])
  const sets = await Promise.all(
    ['shop_text', 'shop_int'].map((set) => addresses(services.engine, set)),
  )
  await untilMade(
    services.ours,
    sets.map(([first]) => first!),
  )
  const before = await metric(services.ours, 'row_file_lookups_total')
  const parts = ['k', 'beyond', 'note', 'object,list', 'list,note,k', 'bytes,pause,single']
  // What is hard to write comes back after 20 rows.
  const rows = sets.flatMap((keys) => keys.slice(0, 20))
  for (const target of rows)
    for (const part of parts) await requireSame(services, { target: `${target}?$select=${part}` })
  const count = (await metric(services.ours, 'row_file_lookups_total')) - before
  assert.is(count, rows.length * parts.length)
})

test('where reading takes long, the engine is asked for a while, and the answers are the same', async () => {
  await using resources = new Resources()
  const rowFiles = { ...AT_ONCE, readMs: 0 }
  const services = await both(resources, [table('int', sql`i::INTEGER`)], { rowFiles })
  await untilMade(services.ours, ['shop_int(1)'])
  const before = await metric(services.ours, 'row_file_lookups_total')
  for (let round = 0; round < 3; round++)
    for (let i = 0; i < 40; i++) await requireSame(services, { target: `shop_int(${i})` })
  const inFile = (await metric(services.ours, 'row_file_lookups_total')) - before
  assert.ok(inFile > 0 && inFile < 120, `${inFile}`)
})

test('a token sees in lookups what it sees otherwise', async () => {
  await using resources = new Resources()
  const tokens = [
    readerToken('odd', { rows: { shop_rows: 'id % 2 = 1' } }),
    readerToken('scoped', { sets: ['shop.rows'] }),
    readerToken('elsewhere', { sets: ['shop.int'] }),
  ]
  const options = { tokens, token: 'plain' }
  const services = await both(resources, [...version(0), table('int', sql`i::INTEGER`)], options)
  const headers = bearer('plain')
  await until(async () => {
    await ask(services.ours, { target: 'shop_rows(1)', headers })
    return (await metric(services.ours, 'row_files', headers)) === 1
  })
  await until(async () => {
    await ask(services.ours, { target: 'shop_rows(1)', headers: bearer('odd') })
    return (await metric(services.ours, 'row_files', headers)) === 2
  })
  const before = await metric(services.ours, 'row_file_lookups_total', headers)
  const statuses = new Map<string, readonly number[]>()
  for (const token of ['plain', 'odd', 'scoped', 'elsewhere', 'wrong']) {
    const asked = [1, 2, 5000].map((id) => ({ target: `shop_rows(${id})`, headers: bearer(token) }))
    const answers = await Promise.all(asked.map((one) => requireSame(services, one)))
    statuses.set(
      token,
      answers.map(({ status }) => status),
    )
  }
  assert.equal(Object.fromEntries(statuses), {
    plain: [200, 200, 404],
    odd: [200, 404, 404],
    scoped: [200, 200, 404],
    elsewhere: [404, 404, 404],
    wrong: [401, 401, 401],
  })
  const found = (await metric(services.ours, 'row_file_lookups_total', headers)) - before
  assert.is(found, 9)
})

test.run()
