import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { Semaphore, Service, ServiceError } from '../../../../src/explorer/page/service/client.ts'

interface Asked {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

function serviceOf(answer: () => Response | Promise<Response>) {
  const asked: Asked[] = []
  const reached: boolean[] = []
  const service = new Service(
    'http://host/odata/',
    async (url, init) => {
      asked.push({ url: url as string, headers: init?.headers as Record<string, string> })
      return answer()
    },
    (isReached) => reached.push(isReached),
  )
  return { service, asked, reached }
}

async function failureOf(response: Response): Promise<ServiceError> {
  const { service } = serviceOf(() => response)
  try {
    await service.rows('orders')
  } catch (error) {
    if (error instanceof ServiceError) return error
  }
  throw new Error('it did not fail')
}

test('rows come with exact numbers, a count and what follows', async () => {
  const body = {
    '@odata.count': '9007199254740993',
    value: [{ n: '250.50' }],
    // A proxy that changes the host leaves links alone.
    '@odata.nextLink': 'http://inside:8090/odata/orders?$skiptoken=abc',
  }
  const { service, asked } = serviceOf(() => Response.json(body))
  const rows = await service.rows('orders?$count=true', { pageSize: 100 })
  assert.equal(rows.value, [{ n: '250.50' }])
  assert.is(rows.count, '9007199254740993')
  assert.is(rows.next, 'orders?$skiptoken=abc')
  assert.is(asked[0]!.url, 'http://host/odata/orders?$count=true')
  assert.match(asked[0]!.headers['Accept']!, 'IEEE754Compatible=true')
  assert.is(asked[0]!.headers['Prefer'], 'odata.maxpagesize=100')
})

test('a failure has the words of the service, or what a proxy says', async () => {
  const error = { code: 'unknown-property', message: 'no property "x"', target: '$filter' }
  const own = await failureOf(Response.json({ error }, { status: 400 }))
  assert.equal(
    [own.status, own.code, own.message, own.target],
    [400, error.code, error.message, '$filter'],
  )
  const proxy = await failureOf(new Response('<html>', { status: 502, statusText: 'Bad Gateway' }))
  assert.equal([proxy.status, proxy.message], [502, '502 Bad Gateway'])
})

test('nobody there is a failure of its own', async () => {
  const { service, reached } = serviceOf(() => Promise.reject(new TypeError('Failed to fetch')))
  const error = await service.rows('orders').catch((failure: unknown) => failure)
  assert.ok(error instanceof ServiceError && error.status === 0)
  assert.equal(reached, [false])
})

test('two at a time, in their order, and who leaves gives up the place', async () => {
  const semaphore = new Semaphore(2)
  const log: string[] = []
  const finish: (() => void)[] = []
  const task = (name: string) => () =>
    new Promise<void>((resolve) => {
      log.push(name)
      finish.push(resolve)
    })
  const leaving = new AbortController()
  const { signal } = new AbortController()
  const first = semaphore.run(task('a'), signal)
  const others = [semaphore.run(task('b'), signal)]
  const left = semaphore.run(task('c'), leaving.signal)
  others.push(semaphore.run(task('e'), signal), semaphore.run(task('d'), signal, 'next'))
  await Promise.resolve()
  assert.equal(log, ['a', 'b'])
  leaving.abort()
  assert.ok((await left.catch((error: unknown) => error)) instanceof DOMException)
  finish[0]!()
  await first
  await new Promise(setImmediate)
  assert.equal(log, ['a', 'b', 'd'])
  finish[1]!()
  await new Promise(setImmediate)
  assert.equal(log, ['a', 'b', 'd', 'e'])
  for (const end of finish) end()
  await Promise.all(others)
})

test('an answer above what its reader can take is given up', async () => {
  let isGivenUp = false
  const { service } = serviceOf(() => {
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      cancel: () => void (isGivenUp = true),
    })
    return new Response(endless)
  })
  const failure = await service.rows('orders', { mostBytes: 10_000 }).then(() => 'rows', String)
  assert.match(failure, 'These values are too long.')
  assert.ok(isGivenUp)
})

test('a task that fails hands its place on', async () => {
  const semaphore = new Semaphore(1)
  const { signal } = new AbortController()
  const failed = semaphore.run(() => Promise.reject(new Error('no')), signal)
  const next = semaphore.run(async () => 'yes', signal)
  assert.match(String(await failed.catch((error: unknown) => error)), 'no')
  assert.is(await next, 'yes')
})

test.run()
