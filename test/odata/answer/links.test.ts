// What links of the service are made of: its secret, and the root that clients reach.

import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger, type LogLine } from '../../../src/core/logger.ts'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { openLinkSigner } from '../../../src/odata/protocol/link-signature.ts'
import { ODataService } from '../../../src/odata/service.ts'
import { rootUrl, targetBelowRoot } from '../../../src/odata/protocol/service-root.ts'
import { fileReader } from '../../../src/store/files/reader.ts'
import { ask, serve } from '../../support/odata-service.ts'
import { publish, type Table } from '../../support/snapshot-files.ts'

const numbers: Table = {
  model: 'shop.numbers',
  key: ['id'],
  rows: sql`SELECT i AS id FROM range(9) AS r(i)`,
}

async function directory(resources: Resources): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-'))
  resources.defer(() => rm(dir, { recursive: true }))
  return dir
}

test('the secret is made once, for its owner alone; one that is damaged is made anew', async () => {
  await using resources = new Resources()
  const path = join(await directory(resources), 'state', 'odata.secret')
  const log: LogLine[] = []
  const logger = createLogger((line) => log.push(line))
  const [one, two] = await Promise.all([openLinkSigner(path, logger), openLinkSigner(path, logger)])
  const later = await openLinkSigner(path, logger)
  assert.is(one.sign('text'), later.sign('text'))
  assert.is(two.sign('text'), later.sign('text'))
  assert.is((await stat(path)).mode & 0o777, 0o600)
  assert.match(await readFile(path, 'utf8'), /^[0-9a-f]{64}\n$/)
  await chmod(path, 0o600)
  await writeFile(path, 'half of it')
  const anew = await openLinkSigner(path, logger)
  assert.is.not(anew.sign('text'), later.sign('text'))
  assert.is((await openLinkSigner(path, logger)).sign('text'), anew.sign('text'))
  assert.equal(log, [])
})

test('a secret that others can read is replaced, and the log says so', async () => {
  if (process.platform === 'win32') return
  await using resources = new Resources()
  const path = join(await directory(resources), 'odata.secret')
  const log: LogLine[] = []
  const logger = createLogger((line) => log.push(line))
  let before = (await openLinkSigner(path, logger)).sign('text')
  for (const mode of [0o640, 0o604, 0o620]) {
    await chmod(path, mode)
    const signer = await openLinkSigner(path, logger)
    assert.is.not(signer.sign('text'), before)
    assert.is((await stat(path)).mode & 0o777, 0o600)
    before = signer.sign('text')
  }
  assert.is((await openLinkSigner(path, logger)).sign('text'), before)
  assert.equal(
    log.map(({ event, fields }) => [event, fields['mode']]),
    ['640', '604', '620'].map((mode) => ['link-secret-exposed', mode]),
  )
})

test('without a place for the secret links end with the service, and the log says so', async () => {
  await using resources = new Resources()
  const dir = await directory(resources)
  await writeFile(join(dir, 'file'), '')
  const log: LogLine[] = []
  const logger = createLogger((line) => log.push(line))
  const path = join(dir, 'file', 'odata.secret')
  const [one, two] = [await openLinkSigner(path, logger), await openLinkSigner(path, logger)]
  assert.is.not(one.sign('text'), two.sign('text'))
  assert.equal(
    log.map(({ event }) => event),
    ['link-secret-unwritable', 'link-secret-unwritable'],
  )
})

test('services with one secret follow each other’s links, others do not', async () => {
  await using resources = new Resources()
  const dir = await directory(resources)
  await publish(join(dir, 'snapshots'), 'first', [numbers])
  const open = async (linkSecret: string) =>
    resources.use(
      await ODataService.open({
        published: fileReader(join(dir, 'snapshots')),
        linkSecret,
        host: '127.0.0.1',
        port: 0,
        token: null,
        allowAnonymous: false,
        pageSize: 5,
        requestTimeoutMs: 30_000,
        maxBatchRequests: 100,
        tempDir: join(dir, 'temp'),
        logger: createLogger(() => {}),
      }),
    )
  const [one, same, other] = [
    await open('ab'.repeat(32)),
    await open('AB'.repeat(32)),
    await open('cd'.repeat(32)),
  ]
  const first = await ask(`${one.url}/shop_numbers?$orderby=id%20desc`, {})
  const next = first.json['@odata.nextLink'].slice(one.url.length)
  assert.is((await ask(same.url + next, {})).status, 200)
  assert.is((await ask(other.url + next, {})).status, 400)
})

test('a next link outlives a restart of the service, and a newer snapshot that came meanwhile', async () => {
  await using resources = new Resources()
  const dir = await directory(resources)
  await publish(join(dir, 'snapshots'), 'first', [numbers])
  const open = () =>
    ODataService.open({
      published: fileReader(join(dir, 'snapshots')),
      linkSecretPath: join(dir, 'odata.secret'),
      host: '127.0.0.1',
      port: 0,
      token: null,
      allowAnonymous: false,
      pageSize: 5,
      requestTimeoutMs: 30_000,
      maxBatchRequests: 100,
      tempDir: join(dir, 'temp'),
      logger: createLogger(() => {}),
    })
  let next: string
  {
    await using service = await open()
    const first = await ask(`${service.url}/shop_numbers?$orderby=id%20desc`, {})
    next = first.json['@odata.nextLink'].slice(service.url.length)
  }
  await publish(join(dir, 'snapshots'), 'second', [{ ...numbers, rows: sql`SELECT 100 AS id` }])
  await using service = await open()
  const rest = await ask(service.url + next, {})
  assert.is(rest.headers['eider-snapshot'], 'first')
  assert.equal(
    rest.json.value.map(({ id }: { readonly id: number }) => id),
    [3, 2, 1, 0],
  )
  const forged = next.replace(/\.([^.]*)$/, '.AAAAAAAAAAAAAAAA')
  const refused = await ask(service.url + forged, {})
  assert.is(refused.status, 400)
  assert.is(refused.json.error.target, '$skiptoken')
})

test('the root is that of the request, or what a trusted proxy says', () => {
  const cases: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{}, 'http://localhost:8090/odata/'],
    [{ 'x-forwarded-proto': 'https' }, 'https://localhost:8090/odata/'],
    [
      { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'data.example' },
      'https://data.example/odata/',
    ],
    [
      { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'a.example, b.example' },
      'https://a.example/odata/',
    ],
    [
      { 'x-forwarded-host': 'data.example', 'x-forwarded-port': '8443' },
      'http://data.example:8443/odata/',
    ],
    [
      {
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'data.example',
        'x-forwarded-port': '443',
        'x-forwarded-prefix': '/shop/',
      },
      'https://data.example/shop/odata/',
    ],
    [
      { forwarded: 'for=10.0.0.1;proto=https;host="data.example:9443", for=10.0.0.2;host=inner' },
      'https://data.example:9443/odata/',
    ],
    [{ forwarded: 'Host=data.example', 'x-forwarded-host': 'other' }, 'http://data.example/odata/'],
    // What could leave its place in the URL is not taken.
    [
      { 'x-forwarded-host': 'a.example/x?', 'x-forwarded-proto': 'ftp' },
      'http://localhost:8090/odata/',
    ],
    [{ 'x-forwarded-prefix': '//evil.example' }, 'http://localhost:8090/odata/'],
    [{ 'x-forwarded-prefix': '/a"b' }, 'http://localhost:8090/odata/'],
    [{ forwarded: 'host="a b";proto' }, 'http://localhost:8090/odata/'],
  ]
  for (const [headers, root] of cases)
    assert.is(rootUrl('localhost:8090', headers), root, JSON.stringify(headers))
  const root = 'https://data.example/shop/odata/'
  assert.is(targetBelowRoot('https://data.example/shop/odata/a?b', root), 'a?b')
  assert.is(targetBelowRoot('/shop/odata/a', root), 'a')
  assert.is(targetBelowRoot('/odata/a', root), 'a')
})

test('headers of a proxy count where the setting says so', async () => {
  await using resources = new Resources()
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'data.example' }
  const trusting = await serve(resources, [numbers], { trustProxy: true, pageSize: 5 })
  const page = (await trusting.get('shop_numbers', headers)).json
  assert.ok(page['@odata.nextLink'].startsWith('https://data.example/odata/shop_numbers?'))
  assert.is(page['@odata.context'], 'https://data.example/odata/$metadata#shop_numbers')
  const target = page['@odata.nextLink'].slice('https://data.example/odata/'.length)
  assert.is((await trusting.get(target, headers)).json.value.length, 4)
  const plain = await serve(resources, [numbers], { pageSize: 5 })
  const own = (await plain.get('shop_numbers', headers)).json
  assert.ok(own['@odata.nextLink'].startsWith(`${plain.url}/`))
})

test.run()
