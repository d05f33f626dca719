// Its commands are processes: several of them answer on one port.
// `eider serve --workers 2` from outside: what is one service for its clients, whatever happens to one of its processes.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readMetrics } from '../support/read-metrics.ts'
import { until } from '../support/until.ts'
import { type Running, type Workspace, workspace } from '../support/workspace.ts'

const ROWS = 100_000

const modelOf = (version: number) =>
  `-- @expose id\nSELECT i AS id, ${version} AS version, repeat('x', 100) AS text FROM range(${ROWS}) AS r(i)`

const project = {
  'eider.yml': 'name: shop\nodata:\n  page_size: 5000\n',
  'models/mart/rows.sql': modelOf(1),
}

async function published(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const space = await workspace({ ...project, ...files })
  await space.ok(['run'])
  return space
}

const serve = (space: Workspace, workers = '2', more: readonly string[] = []) =>
  space.start(['serve', '--port', '0', '--workers', workers, ...more])

/** Pids of the processes that one has started. */
async function childrenOf({ pid }: Pick<Running, 'pid'>): Promise<readonly number[]> {
  const pids = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return pids.trim().split(' ').filter(Boolean).map(Number)
}

/** On a connection of its own, so that it may be another process that answers. */
function ask(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false })
    get(url, { agent, headers }, resolve).on('error', reject)
  })
}

async function askJson(url: string, headers = {}) {
  const response = await ask(url, headers)
  const snapshot = String(response.headers['eider-snapshot'])
  const { statusCode: status } = response
  const body = JSON.parse(await text(response)) as {
    value?: readonly { id: number; version: number }[]
    '@odata.nextLink'?: string
  }
  return { status, snapshot, body }
}

const metric = async ({ url }: Running, name: string) =>
  (await readMetrics(url.replace(/odata$/, 'metrics'), 'eider_odata_')).get(name)

/** Where the children of a process can be read. */
const onLinux = (name: string, run: () => Promise<void>) =>
  process.platform === 'linux' ? test(name, run) : undefined

onLinux(
  'workers are processes, count as one service, and write whole lines to one log',
  async () => {
    await using space = await published()
    const server = await serve(space)
    assert.is((await childrenOf(server)).length, 2)
    const asked = Array.from({ length: 60 }, (_, i) => ask(`${server.url}/mart_rows(${i})`))
    for (const response of await Promise.all(asked)) {
      assert.is(response.statusCode, 200)
      response.resume()
    }
    assert.is(await metric(server, 'requests_total{status="200"}'), 60)
    assert.is(await metric(server, 'rows_total'), 60)
    assert.is(await metric(server, 'snapshots_opened_total'), 2)
    assert.is(await metric(server, 'snapshot_stale'), 0)
    assert.is(await server.stop(), 0)
    const events = server
      .stderr()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { event: string; path?: string })
    const paths = events.flatMap(({ event, path }) =>
      event === 'request' && path?.includes('mart_rows(') ? [path] : [],
    )
    assert.is(new Set(paths).size, 60)
    assert.is(paths.length, 60)
  },
)

onLinux('a worker that is killed is replaced, and the answers of others go on', async () => {
  await using space = await published()
  const server = await serve(space)
  const target = `${server.url}/mart_rows?$format=csv`
  assert.is(await metric(server, 'snapshots_opened_total'), 2)
  // One after the other, so that each worker has one.
  const first = await ask(target)
  const second = await ask(target)
  const [killed] = await childrenOf(server)
  process.kill(killed!, 'SIGKILL')
  const ends = await Promise.all(
    [first, second].map((response) =>
      text(response).then(
        (body) => body.trimEnd().split('\n').length,
        () => 'cut',
      ),
    ),
  )
  assert.equal(new Set(ends), new Set([ROWS + 1, 'cut']))
  await until(
    async () => await childrenOf(server),
    (pids) => pids.length === 2 && !pids.includes(killed!),
  )
  await until(
    async () => await metric(server, 'snapshots_opened_total'),
    (opened) => opened === 3,
  )
  const before = await metric(server, 'rows_total')
  for (let i = 0; i < 6; i++)
    assert.is((await askJson(`${server.url}/mart_rows(${i})`)).status, 200)
  assert.is(await metric(server, 'rows_total'), before! + 6)
  assert.match(server.stderr(), '"event":"worker-ended"')
})

onLinux('all turn to a newer state at once, and pages go on in their own', async () => {
  await using space = await published()
  const server = await serve(space, '3')
  let isOver = false
  const versions = new Map<string, number>()
  /** Asks one after the other, each time over another connection. */
  const client = async () => {
    let seen = 0
    while (!isOver) {
      const { snapshot, body } = await askJson(`${server.url}/mart_rows?$top=1`)
      const { version } = body.value![0]!
      assert.ok(version >= seen, `version ${version} after ${seen}`)
      seen = version
      assert.is(versions.get(snapshot) ?? version, version)
      versions.set(snapshot, version)
    }
    return seen
  }
  const clients = Array.from({ length: 6 }, client)
  const pages = async () => {
    const ids: number[] = []
    const found = new Set<number>()
    let url: string | undefined = `${server.url}/mart_rows`
    while (url !== undefined) {
      const { body } = await askJson(url)
      for (const { id, version } of body.value!) {
        ids.push(id)
        found.add(version)
      }
      url = body['@odata.nextLink']
    }
    assert.is(ids.length, ROWS)
    return [...found]
  }
  const paging = pages()
  for (const version of [2, 3, 4]) {
    await space.write('models/mart/rows.sql', modelOf(version))
    await space.ok(['run'], { ownProcess: true })
    await until(() => [...versions.values()].includes(version))
  }
  isOver = true
  assert.equal(await Promise.all(clients), [4, 4, 4, 4, 4, 4])
  assert.is((await paging).length, 1)
})

onLinux('a worker that cannot turn is given up, and the others turn', async () => {
  await using space = await published()
  const server = await serve(space)
  const [stopped] = await childrenOf(server)
  process.kill(stopped!, 'SIGSTOP')
  await space.write('models/mart/rows.sql', modelOf(2))
  await space.ok(['run'], { ownProcess: true })
  await until(
    async () => await childrenOf(server),
    (pids) => pids.length === 2 && !pids.includes(stopped!),
    90_000,
  )
  assert.match(server.stderr(), '"event":"worker-given-up"')
  await until(
    async () => (await askJson(`${server.url}/mart_rows(1)`)).body as unknown,
    (row) => (row as { version: number }).version === 2,
  )
})

onLinux('all finish their answers when the service is told to stop', async () => {
  await using space = await published()
  const server = await serve(space)
  const responses = [await ask(`${server.url}/mart_rows?$format=csv`)]
  responses.push(await ask(`${server.url}/mart_rows?$format=csv`))
  const bodies = responses.map((response) => text(response))
  assert.is(await server.stop(), 0)
  for (const body of await Promise.all(bodies))
    assert.is(body.trimEnd().split('\n').length, ROWS + 1)
})

onLinux('nothing stays of a service whose first process is killed', async () => {
  await using space = await published()
  const server = await serve(space)
  const workers = await childrenOf(server)
  await server.stop('SIGKILL')
  await until(async () => {
    const living = await Promise.all(
      workers.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')),
    )
    return living.every((stat) => stat === '' || / Z /.test(stat))
  })
  const { port } = new URL(server.url)
  const next = await space.start(['serve', '--workers', '2', '--port', port])
  assert.is((await askJson(`${next.url}/mart_rows(1)`)).status, 200)
})

test('a token that is revoked is refused by all, and next links are good in all', async () => {
  const entry = (name: string) => {
    const hash = createHash('sha256').update(name).digest('hex')
    return `    - name: ${name}\n      hash: sha256:${hash}\n`
  }
  const yaml = (...names: readonly string[]) =>
    `name: shop\nodata:\n  page_size: 5000\n  tokens:\n${names.map(entry).join('')}`
  await using space = await published({ 'eider.yml': yaml('old', 'new') })
  const server = await serve(space)
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
  const statuses = async (token: string) => {
    const all = Array.from({ length: 8 }, () =>
      askJson(`${server.url}/mart_rows(1)`, bearer(token)),
    )
    return (await Promise.all(all)).map(({ status }) => status)
  }
  const [yes, no] = [200, 401].map((status) => Array.from({ length: 8 }, () => status))
  assert.equal(await statuses('old'), yes)
  const { body } = await askJson(`${server.url}/mart_rows`, bearer('old'))
  const link = body['@odata.nextLink']!
  for (let i = 0; i < 4; i++) assert.is((await askJson(link, bearer('new'))).status, 200)
  await space.write('eider.yml', yaml('new'))
  await until(
    async () => await statuses('old'),
    (found) => String(found) === String(no),
  )
  assert.equal(await statuses('new'), yes)
})

onLinux('one worker is one process, and what cannot be is said once', async () => {
  await using space = await published()
  const alone = await serve(space, '1')
  assert.equal(await childrenOf(alone), [])
  const { port } = new URL(alone.url)
  const busy = await space.ok(['serve', '--workers', '2', '--port', port], { exitCode: 3 })
  assert.is(busy.stderr.match(/is in use by another process/g)?.length, 1)
  const open = await space.ok(['serve', '--workers', '2', '--port', '0', '--host', '0.0.0.0'], {
    exitCode: 3,
  })
  assert.is(open.stderr.match(/error:/g)?.length, 1, open.stderr)
  for (const wrong of ['0', '65', 'all'])
    assert.match(
      (await space.ok(['serve', '--workers', wrong], { exitCode: 2 })).stderr,
      '--workers must be auto, or an integer from 1 to 64',
    )
  const both = await space.ok(['serve', '--workers', '2', '--watch'], { exitCode: 2 })
  assert.match(both.stderr, '--workers cannot be combined with --watch')
  await space.write('eider.yml', 'name: shop\nodata:\n  workers: 2\n')
  const two = await space.start(['serve', '--port', '0'])
  assert.is((await childrenOf(two)).length, 2)
})

test.run()
