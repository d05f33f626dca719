// Tokens and webhooks of eider.yml, as somebody meets them who writes the file.

import { startDaemon } from '../support/daemon-process.ts'
import { createHash, createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { workspace } from '../support/workspace.ts'

const models = {
  'models/raw/orders.sql': '-- @kind: events\nid INTEGER NOT NULL, country VARCHAR',
  'models/mart/orders.sql':
    "-- @expose id\nSELECT i AS id, CASE WHEN i % 3 = 0 THEN 'NO' ELSE 'SE' END AS country FROM range(9) r(i)",
}
const hashOf = (digit: string) => `sha256:${digit.repeat(64)}`

test('check and the servers refuse what does not fit the models, with its place', async () => {
  const eiderYml = `name: shop
collect:
  tokens:
    - {name: shop, hash: '${hashOf('1')}', targets: [raw.ordrs]}
  webhooks:
    - {name: github, target: raw.pushes, signature: github, secret: '\${GITHUB_SECRET}'}
odata:
  tokens:
    - name: norway
      hash: ${hashOf('2')}
      sets: [mart_order, other_*]
      rows:
        mart_orders: "contry = 'NO'"
    - name: sweden
      hash: ${hashOf('3')}
      rows: {mart_orders: id, mart_sales: "true"}
    - name: late
      hash: ${hashOf('4')}
      rows: "id > (SELECT 1)"
    - name: all
      hash: ${hashOf('5')}
      rows: "country = 'NO' AND true"
`
  await using space = await workspace({ 'eider.yml': eiderYml, ...models })
  const { stdout } = await space.ok(['check'], { exitCode: 1 })
  for (const said of [
    /eider\.yml:4:\d+ .*there is no "raw\.ordrs"[^]*did you mean "raw\.orders"/,
    /eider\.yml:6:\d+ .*there is no "raw\.pushes"/,
    /eider\.yml:11:\d+ .*there is no "mart_order"[^]*did you mean "mart_orders"/,
    /eider\.yml:13:\d+ .*fits mart_orders \(token "norway"\): .*contry[^]*country_id = 'NO'/,
    /eider\.yml:16:\d+ .*\(token "sweden"\): it is BIGINT, not BOOLEAN/,
    /eider\.yml:16:\d+ .*\(token "sweden"\): no exposed model has this name/,
    /eider\.yml:19:\d+ .*\(token "late"\): it is not a single expression/,
  ])
    assert.match(stdout, said)
  assert.not.match(stdout, 'token "all"')

  await space.write('eider.yml', eiderYml.replace('raw.ordrs', 'raw.orders'))
  const daemon = await space.ok(['collect', 'daemon', '--port', '0'], { exitCode: 1 })
  assert.match(daemon.stderr, /eider\.yml:6:\d+ .*there is no "raw\.pushes"/)
})

test('tokens are replaced while the servers run', async () => {
  await using space = await workspace({ 'eider.yml': 'name: shop\n', ...models })
  await space.ok(['run'])
  const { stdout } = await space.ok(['token', 'first', '--json'])
  const { token: first, hash } = JSON.parse(stdout) as {
    readonly token: string
    readonly hash: string
  }
  const one = `{name: first, hash: '${hash}', sets: [mart_*], rows: "country = 'NO'"}`
  const settings = (tokens: string) => `name: shop
collect:
  webhooks: [{name: github, target: raw.orders, signature: github, secret: '\${GH}'}]
odata:
  tokens: ${tokens}
`
  await space.write('eider.yml', settings(`[${one}]`))
  await space.write('.env', 'GH=before\n')
  const service = await space.start(['serve', '--port', '0'])
  const read = async (token: string) => {
    const headers = { Authorization: `Bearer ${token}` }
    const answer = await fetch(`${service.url}/mart_orders/$count`, { headers })
    return answer.status === 200 ? await answer.text() : answer.status
  }
  assert.equal([await read(first), await read('other')], ['3', 401])

  const next = {
    token: 'the second one',
    hash: `sha256:${createHash('sha256').update('the second one').digest('hex')}`,
  }
  const two = `{name: second, hash: '${next.hash}'}`
  await space.write('eider.yml', settings(`[${one}, ${two}]`))
  await until(async () => (await read(next.token)) === '9')
  assert.is(await read(first), '3')
  // A mistake changes nothing, nor does a list without tokens open the service.
  for (const wrong of [settings(`[${two}, {name: x}]`), settings('[]')]) {
    const before = service.stderr().length
    await space.write('eider.yml', wrong)
    await until(async () => service.stderr().slice(before).includes('tokens-stale'))
    assert.equal([await read(first), await read(next.token), await read('')], ['3', '9', 401])
  }
  await space.write('eider.yml', settings(`[${two}]`))
  await until(async () => (await read(first)) === 401)
  assert.is(await read(next.token), '9')

  // It compiles after each change of a file, so it begins when these are over.
  const daemon = await startDaemon(space)
  const post = async (secret: string, body: string) => {
    const signature = createHmac('sha256', secret).update(body).digest('hex')
    const answer = await fetch(`${daemon.url}/collect/raw/orders`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Hub-Signature-256': `sha256=${signature}` },
      body,
    })
    return answer.status
  }
  assert.equal([await post('before', '{"id":1}'), await post('after', '{"id":2}')], [202, 401])
  await space.write('.env', 'GH=after\n')
  await until(async () => (await post('after', '{"id":3}')) === 202)
  assert.is(await post('before', '{"id":4}'), 401)
  assert.match(service.stderr(), '"token":"first"')
  assert.not.match(service.stderr(), first)
  assert.not.match(await readFile(space.path('eider.yml'), 'utf8'), next.token)
})

test.run()
