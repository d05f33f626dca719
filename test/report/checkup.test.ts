import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Finding, lockFinding } from '../../src/report/checkup.ts'
import { smallDisk, testOnDisk } from '../support/small-disk.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const HOUR_MS = 3_600_000
const heldFor = (hours: number) =>
  lockFinding('run lock', {
    name: 'run web-7:4711',
    alive: true,
    since: new Date(Date.now() - hours * HOUR_MS),
  })

test('doctor warns of a run that has worked for so long that upkeep may delete what it has written', () => {
  assert.is(heldFor(11).status, 'ok')
  const { status, message, next } = heldFor(14)
  assert.equal([status, message], ['warn', 'held by run web-7:4711 for 14 hours'])
  assert.match(next!, /eider maintain deletes what a run has not committed after lake\.keep_days/)
  assert.is(lockFinding('run lock', { name: 'a', alive: true }).status, 'ok')
})

test('doctor warns of keys of a lake in .env, which all commands read', async () => {
  const lake = 'lake: { catalog: postgres://e@127.0.0.1:1/lake, data: s3://shop-lake/prod/ }'
  await using space = await workspace({
    'eider.yml': `name: shop\ntargets:\n  prod:\n    ${lake}\n`,
  })
  const found = async () => {
    const { stdout } = await space.ok(['doctor', '--target', 'prod', '--json'], { exitCode: 1 })
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Partial<Finding>)
    return lines.find(({ check }) => check === 'lake keys')
  }
  assert.is((await found())?.status, 'ok')
  await space.write('.env', 'LAKE_PASSWORD=\nexport LAKE_S3_SECRET=hush\n')
  const keys = await found()
  assert.is(keys?.status, 'warn')
  assert.is(keys?.message, 'the daemon and the service read LAKE_S3_SECRET in .env without need')
})

test('doctor says that a project is a copy of one in which others work', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/mart/one.sql': 'SELECT 1 AS n\n',
  })
  await using copy = await workspace({})
  await using daemon = await space.start(['collect', 'daemon', '--port', '0', '--admin-port', '0'])
  await cp(space.dir, copy.dir, { recursive: true, filter: (path) => !path.endsWith('.alive') })
  const bufferOf = async (project: Workspace): Promise<string> =>
    (await project.ok(['doctor'])).stdout.match(/^(?:ok|warn|fail) +buffer .*\n(?: .*\n)?/m)?.[0] ??
    ''
  assert.match(await bufferOf(space), `held by process ${daemon.pid}`)
  assert.match(
    await bufferOf(copy),
    /^warn +buffer +this is a copy of a project that is in use else/,
  )
  assert.match(await bufferOf(copy), /next: to work on the copy, delete .*collect\.lock/)
})

testOnDisk('doctor says that a disk has no inodes left, whatever room there is', async () => {
  await using disk = await smallDisk(24 * 2 ** 20, 300)
  await writeFile(join(disk.dir, 'eider.yml'), 'name: shop\n')
  await disk.useUpInodes()
  await using space = await workspace()
  const { stdout } = await space.ok(['doctor'], { cwd: disk.dir, exitCode: 1 })
  assert.match(stdout, /^fail +disk +it has no inodes left/m)
})

testOnDisk('doctor says that a file system is read-only, and nothing of owners', async () => {
  await using disk = await smallDisk(24 * 2 ** 20, 300)
  await writeFile(join(disk.dir, 'eider.yml'), 'name: shop\n')
  disk.makeReadOnly()
  await using space = await workspace()
  const { stdout } = await space.ok(['doctor'], { cwd: disk.dir, exitCode: 1 })
  const [, problem = '', hint = ''] = /^fail +files +(.*)\n +next: (.*)$/m.exec(stdout) ?? []
  assert.match(problem, /is on a read-only file system$/)
  assert.is(hint, 'mount it for writing, or move the project to another disk')
})

test.run()
