// From an event to a row, seen from outside: the built daemon and run, real HTTP.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { queryWarehouse, startDaemon } from '../support/daemon-process.ts'
import { postJson } from '../support/json-requests.ts'
import { type Running, type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: acceptance\n',
  'models/raw/events.sql': `-- @kind: events
id BIGINT NOT NULL, -- one per line
name VARCHAR, price DECIMAL(18, 4), tags VARCHAR[], at TIMESTAMP WITH TIME ZONE, "order" INTEGER,
received_at TIMESTAMPTZ`,
  'models/raw/other.sql': '-- @kind: events\nid BIGINT NOT NULL',
  'models/staging/events.sql': '-- @kind: view\nSELECT id, name FROM raw.events',
  'models/mart/latest.sql': `-- @kind: merge
-- @unique_key: id
-- @expose id
SELECT id, max(name) AS name FROM staging.events GROUP BY id`,
}

const run = (space: Workspace, daemon?: Running) =>
  space.ok(['run'], daemon ? { env: { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port } } : {})

test('E001 E004 E010 to E015 E042 E043 E054 to E056 events that fit their model are answered 202 and become rows, others are refused', async () => {
  await using space = await workspace(files)
  await using daemon = await startDaemon(space, '--quiet')
  const url = `${daemon.url}/collect/raw/events`
  const before = Date.now()
  const accepted = await postJson(url, {
    id: 1,
    name: 'é "quoted"',
    price: 1.25,
    tags: ['a', 'b'],
    at: '2026-01-01T08:30:00+02:00',
    order: 7,
    unknown: { x: 1 },
  })
  assert.is(accepted.status, 202)
  assert.is(await accepted.text(), '{"accepted":1}')
  assert.is(
    (await postJson(`${url}/batch`, [{ id: 2, received_at: '2020-01-01T00:00:00Z' }, { id: 3 }]))
      .status,
    202,
  )
  assert.is(
    (
      await postJson(`${url}/batch`, '{"id":4}\n\n{"id":9007199254740993,"name":"0.1"}\n', {
        'Content-Type': 'application/x-ndjson',
      })
    ).status,
    202,
  )
  const after = Date.now()

  const refusals: [string, string, string, number, string][] = [
    ['', '{"name":"x"}', 'application/json', 400, 'id'],
    ['', '{"id":null}', 'application/json', 400, 'id'],
    ['', '[{"id":1}]', 'application/json', 400, ''],
    ['', '"x"', 'application/json', 400, ''],
    ['', '{"id":1', 'application/json', 400, ''],
    ['', '', 'application/json', 400, ''],
    ['/batch', '[{"id":5},{"name":"no id"}]', 'application/json', 400, '1'],
    ['/batch', '{"id":5}', 'application/json', 400, ''],
    ['/batch', '{"id":5}\n{"id":', 'application/x-ndjson', 400, '1'],
    ['', '<id>1</id>', 'application/xml', 415, ''],
  ]
  for (const [path, body, type, status, mention] of refusals) {
    const answer = await postJson(url + path, body, { 'Content-Type': type })
    const text = await answer.text()
    assert.is(answer.status, status, `${body}: ${text}`)
    assert.ok(JSON.parse(text).error.code !== '')
    assert.ok(text.includes(mention), text)
  }
  assert.is((await postJson(`${daemon.url}/collect/raw/nope`, { id: 1 })).status, 404)
  assert.is((await fetch(url)).status, 405)
  assert.is((await fetch(`${daemon.url}/nope`)).status, 404)
  assert.is((await postJson(url, { id: 6, name: 'x'.repeat(2 ** 20) })).status, 413)
  assert.is((await fetch(`${daemon.url}/health`)).status, 200)

  await run(space, daemon)
  const rows = await queryWarehouse(
    space,
    sql`
    SELECT id, name, price, tags::JSON::VARCHAR AS tags, epoch_ms("at") AS "at", "order", epoch_ms(received_at) AS received
    FROM raw.events ORDER BY id`,
  )
  assert.equal(
    rows.map((row) => row['id']),
    ['1', '2', '3', '4', '9007199254740993'],
  )
  const [first, second, third] = rows
  assert.is(first!['name'], 'é "quoted"')
  assert.is(first!['price'], '1.2500')
  assert.is(first!['tags'], '["a","b"]')
  assert.is(first!['at'], String(Date.parse('2026-01-01T06:30:00Z')))
  assert.is(first!['order'], 7)
  assert.is(second!['received'], String(Date.parse('2020-01-01T00:00:00Z')))
  assert.ok(Number(third!['received']) >= before - 1 && Number(third!['received']) <= after + 1)
})

test('E016 E017 E022 X003 X006 views and merges read events; one row per key after repeats', async () => {
  await using space = await workspace(files)
  await using daemon = await startDaemon(space, '--quiet')
  for (const name of ['a', 'b']) {
    assert.is(
      (
        await postJson(`${daemon.url}/collect/raw/events/batch`, [
          { id: 1, name },
          { id: 2, name: 'c' },
        ])
      ).status,
      202,
    )
    await run(space, daemon)
  }
  assert.equal(await queryWarehouse(space, sql`SELECT id, name FROM mart.latest ORDER BY id`), [
    { id: '1', name: 'b' },
    { id: '2', name: 'c' },
  ])
  assert.equal(await queryWarehouse(space, sql`SELECT count(*)::INTEGER AS n FROM raw.events`), [
    { n: 4 },
  ])
  assert.equal(await queryWarehouse(space, sql`SELECT count(*)::INTEGER AS n FROM _eider.acks`), [
    { n: 0 },
  ])
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  assert.is(await (await fetch(`${service.url}/mart_latest/$count`)).text(), '2')
})

test('E019 E024 E025 E027 E029 E045 to E049 E061 E062 a claim is handed out once, returned by nack, removed by ack, over HTTP', async () => {
  await using space = await workspace(files)
  await using daemon = await startDaemon(space, '--quiet')
  const admin = (target: string, call: string, body?: object) =>
    fetch(
      `${daemon.adminUrl}/flush/raw/${target}/${call}`,
      body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) },
    ).then(async (answer) => ({
      status: answer.status,
      json: (await answer.json()) as Record<string, never>,
    }))
  const claim = (target = 'events') => admin(target, 'claim', {})
  await postJson(`${daemon.url}/collect/raw/events/batch`, [{ id: 1 }, { id: 2 }])

  const first = await claim()
  assert.is(first.status, 200)
  assert.is(first.json['events'], 2)
  assert.is((await claim()).json['claim_id'], null)
  assert.is((await claim('other')).json['claim_id'], null)
  const inflight = await admin('events', 'inflight')
  assert.is((inflight.json['claims'] as unknown as unknown[]).length, 1)
  assert.equal((await admin('other', 'inflight')).json, { claims: [] })
  assert.not.match(
    JSON.stringify([first.json, inflight.json]),
    /"(state|buffered|claimed|committed)"/,
  )

  const id = { claim_id: first.json['claim_id'] }
  assert.equal((await admin('events', 'nack', id)).json, { ...id, returned: 2 })
  assert.equal((await admin('events', 'nack', id)).json, { ...id, returned: 0 })
  const again = await claim()
  assert.is(again.json['claim_id'], id.claim_id)
  assert.is((await admin('other', 'ack', id)).status, 400)
  assert.equal((await admin('events', 'ack', id)).json, { ...id, removed: 2 })
  assert.equal((await admin('events', 'ack', id)).json, { ...id, removed: 0 })
  assert.equal((await admin('events', 'nack', id)).json, { ...id, returned: 0 })
  assert.is((await admin('events', 'ack', { claim_id: 'raw.events/99999' })).status, 404)
  assert.is((await admin('events', 'ack', {})).status, 400)
  assert.is((await admin('nope', 'claim', {})).status, 404)

  assert.is((await fetch(`${daemon.url}/flush/raw/events/inflight`)).status, 404)
  assert.is((await postJson(`${daemon.adminUrl}/collect/raw/events`, { id: 1 })).status, 404)
})

test('E003 E005 E018 kill -9 right after a 202 loses nothing, claims survive a restart', async () => {
  await using space = await workspace(files)
  let sent = 0
  for (let round = 0; round < 3; round++) {
    const daemon = await startDaemon(space, '--quiet')
    for (let i = 0; i < 20; i++)
      assert.is((await postJson(`${daemon.url}/collect/raw/events`, { id: ++sent })).status, 202)
    if (round === 1)
      await fetch(`${daemon.adminUrl}/flush/raw/events/claim`, { method: 'POST', body: '{}' })
    await daemon.stop('SIGKILL')
  }
  await run(space)
  assert.equal(
    await queryWarehouse(
      space,
      sql`SELECT count(*)::INTEGER AS n, count(DISTINCT id)::INTEGER AS ids FROM raw.events`,
    ),
    [{ n: 60, ids: 60 }],
  )
})

test('E050 to E052 ports that are busy, the same, or no ports are refused', async () => {
  await using space = await workspace(files)
  await using daemon = await startDaemon(space, '--quiet')
  const { port } = new URL(daemon.url)
  await using other = await workspace(files)
  const busy = await other.ok(['collect', 'daemon', '--port', port, '--admin-port', '0'], {
    exitCode: 3,
  })
  assert.match(busy.stderr, new RegExp(`port ${port}.*in use`))
  for (const [name, value] of [
    ['COLLECT_PORT', 'abc'],
    ['COLLECT_PORT', '70000'],
    ['COLLECT_ADMIN_PORT', '-1'],
  ] as const) {
    const outcome = await other.ok(['collect', 'daemon'], { env: { [name]: value }, exitCode: 2 })
    assert.match(outcome.stderr, new RegExp(name))
  }
  const equal = await other.eider(['collect', 'daemon'], {
    env: { COLLECT_PORT: '18080', COLLECT_ADMIN_PORT: '18080' },
  })
  assert.is(equal.exitCode, 2)
  const second = await space.eider(['collect', 'daemon', '--port', '0', '--admin-port', '0'])
  assert.is(second.exitCode, 3, second.stderr)
  assert.match(second.stderr, new RegExp(String(daemon.pid)))
})

test('E083 a run needs no daemon; a daemon that is asked to stop ends with 0', async () => {
  await using space = await workspace(files)
  const daemon = await startDaemon(space, '--quiet')
  await postJson(`${daemon.url}/collect/raw/events`, { id: 1 })
  assert.is(await daemon.stop(), 0)
  await run(space)
  assert.equal(await queryWarehouse(space, sql`SELECT id FROM raw.events`), [{ id: '1' }])
})

test.run()
