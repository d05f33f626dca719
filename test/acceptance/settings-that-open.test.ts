// Settings that decide who comes in: a variable is its value and never its name, and an edit opens no door unsaid.

import { createHash } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { type Running, workspace } from '../support/workspace.ts'

const models = {
  'models/raw/orders.sql': '-- @kind: events\nid INTEGER NOT NULL',
  'models/mart/orders.sql': '-- @expose id\nSELECT 1 AS id',
}
const VALUE = 'the value of it'
const NAME = '${THE_SECRET}'
const both = `name: shop
collect:
  token: ${NAME}
odata:
  token: ${NAME}
`
const bearer = (token: string | null) =>
  token === null ? {} : { Authorization: `Bearer ${token}` }

const get = async (service: Running, token: string | null) =>
  (await fetch(`${service.url}/mart_orders`, { headers: bearer(token) })).status

async function post(daemon: Running, headers: Record<string, string>) {
  const answer = await fetch(`${daemon.url}/collect/raw/orders`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: '{"id":1}',
  })
  const { error } = (await answer.json()) as { readonly error?: { readonly code: string } }
  return error === undefined ? answer.status : `${answer.status} ${error.code}`
}

test('a token that is a variable is the value of it', async () => {
  await using space = await workspace({
    'eider.yml': both,
    '.env': `THE_SECRET=${VALUE}\n`,
    ...models,
  })
  await space.ok(['check'])
  await space.ok(['run'])
  await using service = await space.start(['serve', '--port', '0'])
  await using daemon = await space.start(['collect', 'daemon', '--port', '0'])
  assert.equal(
    [await get(service, NAME), await get(service, VALUE), await get(service, null)],
    [401, 200, 401],
  )
  assert.equal(
    [await post(daemon, bearer(NAME)), await post(daemon, bearer(VALUE))],
    ['401 unauthorized', 202],
  )
  assert.not.match(service.stderr() + daemon.stderr(), VALUE)
})

test('a variable that is not set, or that something else should replace, is an error with its place', async () => {
  await using space = await workspace({ 'eider.yml': both, ...models })
  const said = async (exitCode: number, ...args: string[]) => {
    const { stdout, stderr } = await space.ok(args, { exitCode })
    return stdout + stderr
  }
  for (const command of [['check'], ['serve', '--port', '0'], ['collect', 'daemon', '--port', '0']])
    assert.match(
      await said(1, ...command),
      /eider\.yml:3:10 .*"collect\.token" needs THE_SECRET, which is not set/,
    )
  for (const [line, problem] of [
    ['odata: {token: "${THE SECRET}"}', /eider\.yml:2:16 .*"odata\.token" must be written with/],
    ['odata: {token: "a${"}', /eider\.yml:2:16 .*"odata\.token" must be written with/],
    ['odata: {port: "${PORT}"}', /eider\.yml:2:15 .*"odata\.port" must be an integer/],
    ['odata: {cors_origins: ["${ORIGIN}"]}', /eider\.yml:2:23 .*needs ORIGIN/],
    ['database: "${DIR}/w.duckdb"', /eider\.yml:2:11 .*"database" needs DIR/],
    ['targets: {prod: {database: "${DIR}/w.duckdb"}}', /"database" needs DIR/],
    ['odata: {tokens: [{name: a, hash: ${A}}]}', /within \[ \] and \{ \} a variable is in quotes/],
  ] as const) {
    await space.write('eider.yml', `name: shop\n${line}\n`)
    assert.match(
      await said(1, 'check', ...(line.startsWith('targets') ? ['--target', 'prod'] : [])),
      problem,
    )
  }
  await space.write('eider.yml', 'name: ${SHOP}\n')
  assert.match(await said(1, 'check'), /eider\.yml:1:7 .*"name" must be a name without/)
  await space.write('eider.yml', 'name: shop\n')
  await space.write('.env', 'ODATA_TOKEN=${THE_SECRET}\n')
  assert.match(await said(2, 'serve', '--port', '0'), /ODATA_TOKEN in \.env holds \$\{THE_SECRET\}/)
  await space.write('.env', '')
  assert.match(
    await said(2, 'serve', '--port', '0', '--token', NAME),
    /--token is \$\{THE_SECRET\}/,
  )
})

test('a target whose last webhook is removed stays closed until a restart', async () => {
  const webhooks = `  webhooks:
    - name: stripe
      target: raw.orders
      signature: stripe
      secret: ["\${SECRET}", "\${SECRET_OLD}"]
`
  await using space = await workspace({
    'eider.yml': `name: shop\ncollect:\n${webhooks}`,
    '.env': 'SECRET=one\nSECRET_OLD=two\n',
    ...models,
  })
  const start = () => space.start(['collect', 'daemon', '--port', '0'])
  const reloaded = async (daemon: Running, text: string, event: string) => {
    const before = daemon.stderr().length
    await space.write('eider.yml', text)
    await until(() => daemon.stderr().slice(before).includes(event))
    return daemon.stderr().slice(before)
  }
  const first = await start()
  assert.is(await post(first, {}), '401 unsigned')
  const log = await reloaded(first, 'name: shop\n', 'models-reloaded')
  assert.is(await post(first, {}), '401 unsigned')
  assert.match(log, /"last-token".*the last webhook of raw\.orders was removed/)
  await reloaded(first, 'name: shop\nnothing: 1\n', 'models-stale')
  assert.is(await post(first, {}), '401 unsigned')
  assert.not.match(await reloaded(first, 'name: shop\n# again\n', 'models-reloaded'), 'last-token')
  assert.is(await post(first, {}), '401 unsigned')
  const limited = 'name: shop\ncollect:\n  max_event_bytes: 1000\n'
  assert.match(
    await reloaded(first, limited, 'models-reloaded'),
    /"settings-need-restart".*"settings":\["collect\.max_event_bytes"\]/,
  )
  await first.stop()
  await using second = await start()
  assert.is(await post(second, {}), 202)
})

test('an edit that lets somebody do more is in the log, with the name of the setting', async () => {
  const hash = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`
  const token = (name: string, more = '') => `    - {name: ${name}, hash: '${hash(name)}'${more}}\n`
  const eiderYml = (readers: string, senders: string, rest = '') =>
    `name: shop\nodata:\n${rest}  tokens:\n${readers}collect:\n${rest}  tokens:\n${senders}`
  const narrow = token('bi', ', sets: [mart_orders], rows: id = 1, expires: 2030-01-01')
  await using space = await workspace({
    'eider.yml': eiderYml(narrow, token('shop', ', targets: [raw.orders]')),
    ...models,
  })
  await space.ok(['run'])
  await using service = await space.start(['serve', '--port', '0'])
  await using daemon = await space.start(['collect', 'daemon', '--port', '0'])
  const warnings = (running: Running) =>
    running
      .stderr()
      .split('\n')
      .filter((line) => line.includes('access-widened'))
      .map(
        (line) => JSON.parse(line) as { readonly settings: string[]; readonly at_restart?: true },
      )
  const settings = (running: Running) => warnings(running).flatMap((one) => one.settings)
  await space.write('eider.yml', 'name: [\n')
  await until(() => daemon.stderr().includes('models-stale'))
  await space.write(
    'eider.yml',
    eiderYml(token('bi') + token('new'), token('shop'), '  host: 0.0.0.0\n'),
  )
  await until(() => settings(daemon).includes('collect.host'))
  await until(() => settings(service).includes('odata.host'))
  assert.equal(
    [...settings(service)].toSorted(),
    ['host', 'tokens.bi.expires', 'tokens.bi.rows', 'tokens.bi.sets', 'tokens.new'].map(
      (name) => `odata.${name}`,
    ),
  )
  assert.equal(settings(daemon), ['collect.tokens.shop.targets', 'collect.host'])
  assert.equal(
    warnings(daemon).map((one) => one.at_restart ?? false),
    [false, true],
  )
  // What is narrower is no warning.
  await space.write('eider.yml', eiderYml(narrow, token('shop')))
  await until(() => service.stderr().split('tokens-reloaded').length > 2)
  assert.is(settings(service).length, 5)
})

test('a service without named tokens says what an edit would open at its next start', async () => {
  const eiderYml = (lines: string) => `name: shop\nodata:\n${lines}`
  const own = '  token: kept\n'
  await using space = await workspace({ 'eider.yml': eiderYml(own), ...models })
  await space.ok(['run'])
  await using service = await space.start(['serve', '--port', '0'])
  const warnings = () =>
    service
      .stderr()
      .split('\n')
      .filter((line) => line.includes('access-widened'))
      .map((line) => JSON.parse(line) as { readonly settings: string[]; readonly at_restart: true })
  const edit = async (lines: string) => {
    const before = warnings().length
    await space.write('eider.yml', eiderYml(lines))
    await until(() => warnings().length > before)
    const { settings, at_restart } = warnings()[before]!
    assert.ok(at_restart)
    return settings
  }
  const token = (letter: string) => `  tokens: [{name: a, hash: 'sha256:${letter.repeat(64)}'}]\n`
  assert.equal(await edit(`${own}  host: 0.0.0.0\n`), ['odata.host'])
  assert.equal(await edit(own + token('a')), ['odata.tokens.a'])
  assert.equal(await edit(own + token('b')), ['odata.tokens.a.hash'])
  assert.equal(await edit('  port: 8090\n'), ['odata.token'])
  assert.equal([await get(service, null), await get(service, 'kept')], [401, 200])
  // Where anybody may come, a token takes away.
  await space.write('eider.yml', eiderYml(token('c')))
  assert.equal(await edit(`${token('c')}  cors_origins: ['https://a.example']\n`), [
    'odata.cors_origins',
  ])
})

test.run()
