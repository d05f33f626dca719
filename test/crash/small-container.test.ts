// Both services in little room: few open files, little memory. The container is a control group, which needs the right to
// make one; skipped, and counted as such, without.

// Its commands are processes: their memory is bounded.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const CLI = join(import.meta.dirname, '../../../bin/run.js')
const MEMORY_BYTES = 350 * 2 ** 20

/** Runs eider in this directory after the shell commands. */
const eiderAfter = (commands: string, dir: string, ...args: readonly string[]) =>
  spawnSync('sh', ['-c', `${commands}; exec "$0" "$@"`, process.execPath, CLI, ...args], {
    cwd: dir,
    encoding: 'utf8',
    timeout: 120_000,
  })

/** A control group with a limit of memory, of the first or the second version; null where none may be made. */
function memoryGroup(): string | null {
  const isFirst = existsSync('/sys/fs/cgroup/memory')
  const dir = join('/sys/fs/cgroup', isFirst ? 'memory' : '', `eider-test-${process.pid}`)
  try {
    mkdirSync(dir)
    const limit = isFirst ? 'memory.limit_in_bytes' : 'memory.max'
    writeFileSync(join(dir, limit), String(MEMORY_BYTES))
    return dir
  } catch {
    return null
  }
}

const group = memoryGroup()
test.after(() => {
  if (group !== null) rmdirSync(group)
})
const testInGroup = (name: string, run: () => Promise<void>) =>
  group === null ? test.skip(name, run) : test(name, run)

test('a server that may open few files says so and does not begin', async () => {
  await using space = await workspace({
    'eider.yml': 'name: few\n',
    'models/t/one.sql': '-- @expose id\nSELECT 1 AS id',
  })
  await space.ok(['run'])
  for (const command of [['serve'], ['collect', 'daemon', '--admin-port', '0']]) {
    const ended = eiderAfter('ulimit -n 64', space.dir, ...command, '--port', '0')
    assert.is(ended.status, 3, ended.stderr)
    assert.match(ended.stderr, /this process may open 64 files, and a server needs 256/)
    assert.match(ended.stderr, /hint: raise the limit with ulimit -n/)
  }
})

test('what a command needs more files for than it may open is no bug', async () => {
  await using space = await workspace({
    'eider.yml': 'name: few\n',
    'models/t/one.sql': '-- @expose id\nSELECT 1 AS id',
  })
  await space.ok(['run'])
  const hints: string[] = []
  for (const files of [20, 22, 24, 26])
    for (const command of ['doctor', 'run', 'status']) {
      const { status, stdout, stderr } = eiderAfter(`ulimit -n ${files}`, space.dir, command)
      const said = `${command} with ${files} files: exit code ${status}: ${stdout}${stderr}`
      assert.ok([0, 1, 3].includes(status ?? 70), said)
      assert.not.match(said, /bug in eider|check the path and its permissions/)
      if (said.includes('raise the limit with ulimit -n')) hints.push(said)
    }
  assert.ok(hints.length > 0)
})

testInGroup(
  'a query that needs more memory than its container has does not end the service',
  async () => {
    await using space = await workspace({
      'eider.yml': 'name: small\n',
      'models/t/rows.sql':
        "-- @expose id\nSELECT i AS id, 'row number ' || i AS a, 'the text ' || (i * 7) AS b FROM range(2000000) r(i)",
    })
    await space.ok(['run'])
    const target = 't_rows?$apply=groupby((a,b,id),aggregate($count as n))&$top=1'
    const enter = `echo $$ > ${join(group!, 'cgroup.procs')}`
    const ended = eiderAfter(enter, space.dir, 'odata', 'preview', target)
    assert.is(ended.signal, null)
    assert.ok(/"n":1/.test(ended.stdout) || /not enough memory/.test(ended.stderr), ended.stderr)
  },
)

testInGroup('bodies that come together do not end a daemon in a small container', async () => {
  await using space = await workspace({
    'eider.yml': 'name: small\n',
    'models/raw/events.sql': '-- @kind: events\nid BIGINT',
  })
  const enter = `echo $$ > ${join(group!, 'cgroup.procs')}; exec "$0" "$@"`
  const words = ['collect', 'daemon', '--json', '--port', '0', '--admin-port', '0', '--quiet']
  const daemon = spawn('sh', ['-c', enter, process.execPath, CLI, ...words], {
    cwd: space.dir,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(daemon, 'exit')
  const [line] = (await once(daemon.stdout, 'data')) as [Buffer]
  const { url } = JSON.parse(line.toString()) as { url: string }
  const body = gzipSync(`[${' '.repeat(32 * 2 ** 20 - 2)}]`)
  const post = async () => {
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }
    const path = `${url}/collect/raw/events/batch`
    return (await fetch(path, { method: 'POST', headers, body })).status
  }
  const statuses = await Promise.all(Array.from({ length: 16 }, post))
  assert.ok(
    statuses.every((status) => [202, 503].includes(status)),
    statuses.join(),
  )
  assert.is(await post(), 202)
  daemon.kill('SIGTERM')
  assert.is((await ended)[0], 0)
})

test.run()
