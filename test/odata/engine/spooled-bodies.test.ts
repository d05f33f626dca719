// Changes are made whole before they are sent: a slow client keeps no engine from others, and no short body looks whole.

import { once } from 'node:events'
import files, { mkdtemp, readdir, rm, truncate } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { RequestError } from '../../../src/http/request-error.ts'
import { createSpooledBodies } from '../../../src/odata/engine/spooled-bodies.ts'
import { publish, type Table } from '../../support/snapshot-files.ts'
import { type Served, serve } from '../../support/odata-service.ts'

/** More than sockets take from a service whose client does not read. */
const ROWS = 1_500
const ROW_BYTES = 10_000

const sets = (names: readonly string[], rows: number): readonly Table[] =>
  names.map((name) => ({
    model: `shop.${name}`,
    key: ['id'],
    rows: sql`SELECT i AS id, repeat('x', ${sql.value(ROW_BYTES)}) AS note FROM range(${sql.value(rows)}) AS r(i)`,
  }))

async function deltaLinks(served: Served, names: readonly string[]): Promise<readonly string[]> {
  const links = names.map(async (name) => {
    const { json } = await served.get(`shop_${name}`, { prefer: 'track-changes' })
    return json['@odata.deltaLink'].slice(served.url.length + 1) as string
  })
  return await Promise.all(links)
}

async function publishAndWait(served: Served, tables: readonly Table[]): Promise<void> {
  await publish(served.dir, 'second', tables)
  while ((await served.get('')).headers['eider-snapshot'] !== 'second') await sleep(10)
}

/** A client that has the head of the answer and reads no further. */
async function stalled(served: Served, path: string, resources: Resources) {
  const sent = request(`${served.url}/${path}`, { agent: false }).end()
  resources.defer(() => void sent.destroy())
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

async function textOf(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}

async function filesIn(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir, { recursive: true })
  return names.filter((name) => /spooled-[^/\\]*$/.test(name)).map((name) => join(dir, name))
}

test('clients that do not take their changes keep no engine from others', async () => {
  await using resources = new Resources()
  const names = Array.from({ length: limits.comparisons + 1 }, (_, i) => `set${i}`)
  const served = await serve(resources, sets(names, 1), { requestTimeoutMs: 10_000 })
  const [link, ...others] = await deltaLinks(served, names)
  await publishAndWait(served, sets(names, ROWS))
  const slow = await Promise.all(others.map((other) => stalled(served, other, resources)))
  assert.equal(
    slow.map(({ statusCode }) => statusCode),
    others.map(() => 200),
  )
  const answer = await served.get(link!)
  assert.is(answer.status, 200, answer.text.slice(0, 300))
  assert.is(answer.json.value.length, ROWS - 1)
  for (const response of slow)
    assert.is(JSON.parse(await textOf(response)).value.length, ROWS - 1, 'it waited for its client')
  const temp = join(served.dir, '..', 'temp')
  while ((await filesIn(temp)).length > 0) await sleep(10)
})

test('changes that are lost on their way cut the connection', async () => {
  await using resources = new Resources()
  const served = await serve(resources, sets(['one'], 1))
  const [link] = await deltaLinks(served, ['one'])
  await publishAndWait(served, sets(['one'], ROWS))
  const response = await stalled(served, link!, resources)
  const [file] = await filesIn(join(served.dir, '..', 'temp'))
  await truncate(file!, 5_000_000)
  const failure = await textOf(response).catch((error: Error) => error)
  assert.instance(failure, Error)
})

test('changes whose query fails midway are an error, and nothing of them is sent', async () => {
  await using resources = new Resources()
  const table = (rows: Table['rows'], isView: boolean): Table => ({
    model: 'shop.some',
    key: ['id'],
    rows,
    isView,
  })
  const served = await serve(resources, [table(sql`SELECT 0::BIGINT AS id, 'a' AS name`, false)])
  const [link] = await deltaLinks(served, ['some'])
  await publishAndWait(served, [
    table(
      sql`SELECT i AS id, CASE WHEN i = 150000 THEN CAST(CAST('secret' || i AS INTEGER) AS VARCHAR)
        ELSE 'some text' END AS name FROM range(200000) AS r(i)`,
      true,
    ),
  ])
  const answer = await served.get(link!, { prefer: 'maxpagesize=1000000' })
  assert.is(answer.status, 500)
  assert.is(answer.json.error.code, 'internal-error')
  assert.not.match(answer.text, /secret|some text/)
})

async function* parts(count: number, failsAt = count): AsyncGenerator<Buffer, void> {
  for (let i = 0; i < count; i++) {
    if (i === failsAt) throw new Error('the query failed')
    yield Buffer.alloc(100_000, i)
  }
}

test('a body that is spooled is whole or an error, and leaves no file', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'eider-'))
  await using resources = new Resources()
  resources.defer(() => rm(dir, { recursive: true }))
  const bodies = createSpooledBodies(dir, 2_500_000)
  const failure = (spooled: Promise<unknown>) => spooled.then(String, (error: unknown) => error)
  const read = async (body: Buffer | AsyncIterable<Buffer>) => {
    const pieces: Buffer[] = []
    for await (const piece of body as AsyncIterable<Buffer>) pieces.push(piece)
    return Buffer.concat(pieces)
  }
  {
    await using short = await bodies.spool(parts(2))
    assert.ok(Buffer.isBuffer(short.body))
    assert.is(short.body.length, 200_000)
    assert.equal(await readdir(dir), [])
    await using long = await bodies.spool(parts(20))
    assert.ok((await read(long.body)).equals(await read(parts(20))))
    for (const failsAt of [0, 1, 4])
      assert.match(String(await failure(bodies.spool(parts(10, failsAt)))), /the query failed/)
    const refused = await failure(bodies.spool(parts(10)))
    assert.is((refused as RequestError).status, 503, 'there is room for five parts more')
    assert.is((await readdir(dir)).length, 1)
  }
  assert.equal(await readdir(dir), [])
  await using again = await bodies.spool(parts(20))
  assert.not(Buffer.isBuffer(again.body))
})

test('a body for which the disk has no room is refused, whatever it is that finds no room', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'eider-'))
  await using resources = new Resources()
  resources.defer(() => rm(dir, { recursive: true }))
  const bodies = createSpooledBodies(dir)
  const full = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }))
  const handle = await files.open(join(dir, 'any'), 'w')
  const handles = Object.getPrototypeOf(handle) as typeof handle
  await handle.close()
  for (const [owner, name] of [
    [files, 'mkdir'],
    [files, 'open'],
    [handles, 'appendFile'],
  ] as const) {
    const kept = Reflect.get(owner, name) as unknown
    Reflect.set(owner, name, full)
    syncBuiltinESMExports()
    const refused = await bodies.spool(parts(20)).catch((error: unknown) => error)
    Reflect.set(owner, name, kept)
    syncBuiltinESMExports()
    assert.is((refused as RequestError).status, 503, name)
  }
  assert.equal(await readdir(dir), ['any'])
})

test.run()
