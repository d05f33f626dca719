// Its commands are processes: an assistant starts one and ends it.
// Alone in its process: the SDK keeps its schemas in globals.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text as allOf } from 'node:stream/consumers'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { overStdio, textOf } from '../support/mcp-client.ts'
import { repository, type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/shop/orders.sql': `-- @kind: table
-- @expose order_id
-- @description: Orders
-- @check: amount >= 0
SELECT i AS order_id, i % 3 AS customer_id, i * 1.5 AS amount FROM range(1, 8) r(i)`,
  'models/shop/customers.sql': `-- @kind: table
-- @expose customer_id
SELECT i AS customer_id, 'c' || i AS name FROM range(0, 3) r(i)`,
  'models/shop/hidden.sql': `SELECT 'secret-7f3a' AS secret`,
}

const binary = join(repository, 'bin', 'run.js')
const argsOf = ({ dir }: Workspace) => [binary, 'mcp', '--project', dir]

/** Without a client library, for what none sends. */
function start(space: Workspace): ChildProcess {
  return spawn(process.execPath, argsOf(space), { stdio: ['pipe', 'pipe', 'inherit'] })
}

test('the SDK asks a process that it starts, and sees the next publication', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  const { assistant, pid } = await overStdio(process.execPath, argsOf(space))
  await using _ = assistant
  assert.ok(pid > 0)
  const call = async (name: string, args: object) =>
    textOf(await assistant.callTool({ name, arguments: args }))
  assert.match(await call('list_sets', {}), /^2 sets,.*\n.*\n?.*shop_orders \(7 rows\): Orders/s)
  const described = await call('describe_set', { set: 'shop_orders' })
  assert.match(described, /checks, all passed:\n.*amount >= 0/)
  assert.match(described, /navigation: customer\w* -> shop_customers/)
  assert.match(described, /freshness: built by the run of/)
  assert.not.match(await call('list_sets', { search: 'secret' }), /hidden/)
  const total = { set: 'shop_orders', apply: 'aggregate(amount with sum as total)' }
  const first = JSON.parse(await call('query', total))
  assert.equal(first.rows, [{ total: 42 }])
  const url = 'http://127.0.0.1:8090/odata/shop_orders?$apply=aggregate'
  assert.ok(decodeURIComponent(first.request).startsWith(url), first.request)

  const model = files['models/shop/orders.sql'].replace('range(1, 8)', 'range(1, 9)')
  await space.write('models/shop/orders.sql', model)
  await space.ok(['run'])
  for (let tries = 0; ; tries++) {
    const second = JSON.parse(await call('query', total))
    if (second.snapshot === first.snapshot && tries < 200) continue
    assert.equal(second.rows, [{ total: 54 }])
    break
  }
})

const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`

test('the end of stdin ends it after the answers, SIGTERM ends it at once', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  const ended = start(space)
  const call = { name: 'query', arguments: { set: 'shop_orders' } }
  ended.stdin!.end(
    line({ id: 'a', method: 'ping' }) +
      line({ id: 'b', method: 'tools/call', params: call }).trim(),
  )
  const answers = (await allOf(ended.stdout!))
    .trim()
    .split('\n')
    .map((one) => JSON.parse(one))
  if (ended.exitCode === null) await once(ended, 'exit')
  assert.equal([ended.exitCode, answers.map(({ id }) => id)], [0, ['a', 'b']])

  const stopped = start(space)
  stopped.stdin!.write(line({ id: 1, method: 'ping' }))
  await once(stopped.stdout!, 'data')
  stopped.kill('SIGTERM')
  assert.equal(await once(stopped, 'exit'), [0, null])
})

test('before the first run it answers that nothing is published', async () => {
  await using space = await workspace(files)
  const { assistant } = await overStdio(process.execPath, argsOf(space))
  await using _ = assistant
  const result = await assistant.callTool({ name: 'list_sets', arguments: {} })
  assert.ok(result.isError)
  assert.match(textOf(result), /eider run/)
  assert.equal(
    (await assistant.listResources()).resources.map(({ name }) => name),
    ['catalog'],
  )
})

test('lines that are no messages, too long or cancelled leave it at work', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  const child = start(space)
  const { stdin } = child
  stdin!.write(`not json\n\n \n{"jsonrpc":"2.0","id":1,"method":7}\n`)
  // More than any message, in many pieces.
  for (let i = 0; i < 64; i++) stdin!.write('x'.repeat(65_536))
  stdin!.write('\n')
  stdin!.write(line({ method: 'notifications/cancelled', params: { requestId: 99 } }))
  stdin!.write(line({ method: 'notifications/cancelled', params: 7 }))
  stdin!.end(line({ id: 2, method: 'ping' }))
  const answers = (await allOf(child.stdout!))
    .trim()
    .split('\n')
    .map((one) => JSON.parse(one))
  const seen = answers.map(({ id, error }) => [id, error?.code ?? null])
  assert.equal(seen, [
    [null, -32700],
    [1, -32600],
    [null, -32600],
    [2, null],
  ])
})

test('a query that is cancelled is not answered, and what comes after it is', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  const child = start(space)
  const params = { name: 'query', arguments: { set: 'shop_orders' } }
  // One piece for all three, so that the query is still at work when it is cancelled.
  child.stdin!.end(
    line({ id: 'slow', method: 'tools/call', params }) +
      line({ method: 'notifications/cancelled', params: { requestId: 'slow' } }) +
      line({ id: 'after', method: 'ping' }),
  )
  const answers = (await allOf(child.stdout!))
    .trim()
    .split('\n')
    .map((one) => JSON.parse(one))
  assert.equal(
    answers.map(({ id }) => id),
    ['after'],
  )
})

test.run()
