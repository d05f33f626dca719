// Disks that are full or lost: that of a service, and that of a collector.

import { mkdir, readdir, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { collectOrders } from '../support/lake/collect-orders.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { missingLakeParts } from '../support/lake/parts.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { smallDisk, testOnDisk } from '../support/small-disk.ts'
import type { Workspace } from '../support/workspace.ts'

const MIB = 2 ** 20

if (missingLakeParts().length === 0)
  testOnDisk('a service whose disk is full shows the last state until there is room', async () => {
    await using lake = await withLake()
    await using disk = await smallDisk(16 * MIB)
    const model = (rows: number) =>
      `-- @expose id\nSELECT i AS id, hash(i + ${rows}) AS h FROM range(${rows}) t(i)\n`
    await using runner = await lakeProject(lake, { 'models/mart/t.sql': model(1000) })
    await using service = await lakeProject(lake, { 'models/mart/t.sql': model(1000) })
    await mkdir(join(disk.dir, 'state'))
    await symlink(join(disk.dir, 'state'), service.path('.eider'))
    const env = { ...lake.env, TMPDIR: disk.dir }
    const countOf = async () => (await fetch(`${served.url}/mart_t/$count`)).text()

    await runner.ok(['run'])
    await service.ok(['pull'], { env })
    await using served = await service.start(['serve', '--port', '0'], { env })
    assert.is(await countOf(), '1000')
    const before = await filesOf(disk.dir)
    await runner.write('models/mart/t.sql', model(300_000))
    await runner.ok(['run'])
    // Where nothing can be written; where the log of the new file does not fit; where its rows do not.
    for (const freeBytes of [0, 20_000, 2 * MIB]) {
      await disk.fill(freeBytes)
      const { stdout, stderr } = await service.ok(['pull', '--json'], { env, exitCode: 3 })
      assert.match(stdout, /^\{"event":"error","code":"disk-full",.*\}\n$/)
      assert.match(stderr, /^error: the disk of \S+ is full\nhint: free some space[^\n]*\n$/)
      assert.is(await countOf(), '1000')
      await disk.empty()
      assert.equal(await filesOf(disk.dir), before)
    }
    assert.match((await service.ok(['pull'], { env })).stdout, /^pulled snapshot .*: 1 file/)
    const shows = AbortSignal.timeout(20_000)
    while ((await countOf()) !== '300000') shows.throwIfAborted()
  })

/** But for the reports and files of rows that the service itself writes. */
const filesOf = async (dir: string) =>
  (await readdir(dir, { recursive: true }))
    .filter((name) => /state\/(?:[^/]+$|snapshots)/.test(name))
    .filter((name) => !name.endsWith('/tmp'))
    .toSorted()

const events = {
  'models/raw/orders.sql': '-- @kind: events\nid bigint not null\n',
  'models/mart/total.sql': 'SELECT count(*) AS n, sum(id) AS ids FROM raw.orders\n',
}

async function idsIn(space: Workspace): Promise<readonly number[]> {
  const query = 'SELECT list(id::INTEGER ORDER BY id) AS ids FROM raw.orders'
  const { stdout } = await space.ok(['query', query, '--json'])
  return (JSON.parse(stdout) as { ids: readonly number[] }).ids
}

lakeTest(
  'the new buffer of a collector that lost its disk is not taken for the old one',
  async () => {
    await using lake = await withLake()
    await using lost = await lakeProject(lake, events)
    await collectOrders(lost, [1, 2])
    await lost.ok(['flush'])
    await collectOrders(lost, [3])
    await lost.ok(['flush'])
    await collectOrders(lost, [4])
    // The answer to the COMMIT of its last flush never arrived: the events are in the table, and in the old buffer.
    await Promise.all([lake.catalog.loseNextCommit(), lost.eider(['flush'])])
    await collectOrders(lost, [100])
    await rename(lost.path('.eider'), lost.path('lost'))

    await collectOrders(lost, [5, 6])
    await using other = await lakeProject(lake, events)
    await collectOrders(other, [7])
    await lost.ok(['flush'])
    await other.ok(['flush'])
    await collectOrders(lost, [8])
    await lost.ok(['flush'])
    assert.equal(await idsIn(lost), [1, 2, 3, 4, 5, 6, 7, 8])

    // The disk is found again: what was not flushed goes in, and nothing else.
    await using found = await lakeProject(lake, events)
    await rename(lost.path('lost'), found.path('.eider'))
    await found.ok(['flush'])
    assert.equal(await idsIn(found), [1, 2, 3, 4, 5, 6, 7, 8, 100])
  },
)

test.run()
