// A catalog that is put back from a backup, or whose standby lacked the last commits, as docs/scale-out.md says: what was
// flushed and built since is no longer in the tables, all that the catalog knows is, and everybody goes on from there.

import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { collectOrders } from '../support/lake/collect-orders.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { findPostgres } from '../support/lake/parts.ts'
import { superuser } from '../support/lake/servers.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import type { Workspace } from '../support/workspace.ts'

lakeTest('a catalog is restored from a backup, and the next run builds what it lacks', async () => {
  await using lake = await withLake()
  const model = (rows: number) => `-- @expose id\nSELECT id FROM range(${rows}) t(id)\n`
  await using space = await lakeProject(lake, { 'models/mart/t.sql': model(3) })
  const rows = async () => {
    const { stdout } = await space.ok([
      'query',
      'SELECT count(*)::INTEGER AS n FROM mart.t',
      '--json',
    ])
    return (JSON.parse(stdout) as { n: number }).n
  }
  const url = urlOf(lake)

  await space.ok(['run'])
  postgres('pg_dump', '--format=custom', '--schema=shop', `--file=${space.path('lake.dump')}`, url)
  await space.write('models/mart/t.sql', model(5))
  await space.ok(['run'])
  assert.is(await rows(), 5)
  postgres('pg_restore', '--clean', '--if-exists', `--dbname=${url}`, space.path('lake.dump'))
  assert.is(await rows(), 3)
  assert.match((await space.ok(['run'])).stdout, /built +mart\.t +5 rows/)
  assert.is(await rows(), 5)
  await space.ok(['pull'])
})

lakeTest('a catalog that lacks the last commits is gone on with, by all machines', async () => {
  await using lake = await withLake()
  const models = {
    'models/raw/orders.sql': '-- @kind: events\n-- @expose id\nid bigint not null\n',
    'models/mart/total.sql': '-- @expose n\nSELECT count(*) AS n, sum(id) AS ids FROM raw.orders\n',
  }
  await using collector = await lakeProject(lake, models)
  await using runner = await lakeProject(lake, models)
  await using service = await lakeProject(lake, models)
  const dump = runner.path('lake.dump')
  const pull = async () => (await service.ok(['pull'])).stdout
  const shown = async () => {
    const { value } = (await (await fetch(`${served.url}/raw_orders?$orderby=id`)).json()) as {
      value: readonly { id: number }[]
    }
    const totals = (await (await fetch(`${served.url}/mart_total`)).json()) as {
      value: readonly unknown[]
    }
    return [value.map(({ id }) => id), totals.value[0]]
  }
  const shows = async (ids: readonly number[]) => {
    const total = { n: ids.length, ids: ids.reduce((sum, id) => sum + id, 0) }
    const deadline = AbortSignal.timeout(30_000)
    for (;;) {
      const found = await shown()
      if (isDeepStrictEqual(found, [ids, total])) return
      if (deadline.aborted) assert.equal(found, [ids, total])
      await sleep(100)
    }
  }

  await collectOrders(collector, [1, 2])
  await collector.ok(['flush'])
  await runner.ok(['run'])
  await pull()
  await using served = await service.start(['serve', '--port', '0'])
  await using puller = await lakeProject(lake, models)
  // With an engine that has seen the commits which are lost.
  await using pulling = await puller.start(['pull', '--every', '1s'], { ready: 'pulled' })
  postgres('pg_dump', '--format=custom', '--schema=shop', `--file=${dump}`, urlOf(lake))

  await collectOrders(collector, [3, 4])
  await collector.ok(['flush'])
  await runner.write('models/mart/later.sql', '-- @expose id\nSELECT 7 AS id\n')
  await runner.ok(['run'])
  await pull()
  await shows([1, 2, 3, 4])
  await collectOrders(collector, [5])
  postgres('pg_restore', '--clean', '--if-exists', `--dbname=${urlOf(lake)}`, dump)

  assert.match((await service.ok(['doctor'])).stdout, /warn {2}snapshot .*the lake has lost it/)
  assert.match(await pull(), /^pulled snapshot/)
  await shows([1, 2])
  await collector.ok(['flush'])
  await runner.write('models/mart/later.sql', '-- @expose id\nSELECT 8 AS id, 9 AS more\n')
  await runner.ok(['run'])
  await pull()
  // What the lake had acknowledged is gone, what was still waiting is there once.
  await shows([1, 2, 5])
  assert.match((await service.ok(['doctor'])).stdout, /ok {4}snapshot/)
  const later = (await (await fetch(`${served.url}/mart_later`)).json()) as { value: unknown }
  assert.equal(later.value, [{ id: 8, more: 9 }])
  const manifest = (space: Workspace) =>
    readFile(space.path('.eider/snapshots/manifest.json'), 'utf8')
  const { id } = JSON.parse(await manifest(service)) as { id: string }
  const deadline = AbortSignal.timeout(30_000)
  while (!(await manifest(puller)).includes(id)) {
    deadline.throwIfAborted()
    await sleep(100)
  }
  assert.is(pulling.stderr(), '')
})

const urlOf = ({ servers, database }: TestLake) =>
  `postgres://${superuser.user}:${superuser.password}@127.0.0.1:${servers.postgresPort}/${database}`

const postgres = (program: string, ...args: readonly string[]) =>
  execFileSync(join(findPostgres()!, program), args, { stdio: ['ignore', 'ignore', 'pipe'] })

test.run()
