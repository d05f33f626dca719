// What a run prints where there is no terminal, seen from outside.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { eiderProcess, type Workspace, workspace } from '../support/workspace.ts'

const ESCAPE = '\u001b'
const project = {
  'eider.yml': 'name: s\n',
  'models/a/fine.sql': '-- @expose id\nselect 1 as id\n',
  'models/a/bad.sql': "select id,\n  cast('x' || id as integer) as n\nfrom a.fine\n",
  'models/a/next.sql': 'select * from a.bad\n',
}

function start(space: Workspace, args: readonly string[]) {
  const { command, args: all, env } = eiderProcess(args)
  const child = spawn(command, all, { cwd: space.dir, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (printed.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (printed.stderr += chunk.toString()))
  const exited = once(child, 'exit') as Promise<[number | null]>
  const says = (stream: 'stdout' | 'stderr', words: RegExp) =>
    until(
      () => Promise.resolve(printed[stream]),
      (seen) => words.test(seen),
    )
  const stop = async () => {
    child.kill('SIGINT')
    return (await exited)[0]
  }
  return { printed, says, stop }
}

test('every line has a time, failures are framed on stderr, unchanged models are a number', async () => {
  await using space = await workspace(project)
  const { stdout, stderr } = await space.ok(['run'], { exitCode: 1 })
  const lines = stdout.trimEnd().split('\n')
  for (const line of lines) assert.match(line, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \S/)
  assert.equal(
    lines.map((line) => line.slice(21).split(/ {2,}/)[0]),
    ['built', 'failed', 'skipped', lines[3]!.slice(21).split(/ {2,}/)[0]],
  )
  assert.match(lines[1]!, /a\.bad +models\/a\/bad\.sql:2:3: 'x1' is not an INTEGER/)
  const last = /Z 1 failed, 1 skipped, 1 built, published [0-9a-f]+ in .* {8}eider run --retry$/
  assert.match(lines[3]!, last)
  const frame =
    /^\nmodels\/a\/bad\.sql:2:3 error a\.bad: .*\n {2}2 \| {3}cast\('x'.*\n {4}\| {3}\^{4}\n {2}hint: TRY_CAST/
  assert.match(stderr, frame)
  await space.write('models/a/bad.sql', 'select id from a.fine\n')
  await space.ok(['run'])
  assert.match((await space.ok(['run'])).stdout, /^\S+Z 3 unchanged in [\d.]+ m?s\n$/)
  const detailed = await space.ok(['run', '--verbose'])
  assert.match(detailed.stdout, /Z unchanged +a\.fine +nothing changed\n/)
  assert.match(detailed.stderr, /^\S+Z compiled +3 models, [\d.]+ m?s\n/)
})

test('lines come as things finish; what an interrupted run did not reach is a number', async () => {
  await using space = await workspace({
    'eider.yml': 'name: s\n',
    'models/a/fast.sql': 'select 1 as id\n',
    'models/a/slow.sql':
      'select count(*) as n from a.fast, range(1000000) t(i), range(1000000) u(j) where i * j % 7 = id\n',
  })
  const run = start(space, ['run'])
  await run.says('stdout', /Z built +a\.fast +1 row/)
  assert.is(await run.stop(), 130)
  assert.match(run.printed.stdout, /\n\S+Z interrupted, 1 skipped, 1 built in .*\n$/)
  assert.not.match(run.printed.stdout, 'a.slow')
})

test('colours without a terminal: FORCE_COLOR and CI, but not NO_COLOR and TERM=dumb', async () => {
  await using space = await workspace({ ...project, 'models/a/typo.sql': 'selec 1\n' })
  const printed = async (env: Record<string, string>) => {
    const clean = { NO_COLOR: '', TERM: 'xterm', ...env }
    const { stdout, stderr } = await space.ok(['run'], { exitCode: 1, env: clean })
    return [stdout.includes(`${ESCAPE}[31mfailed`), stderr.includes(`${ESCAPE}[31merror`)]
  }
  assert.equal(await printed({ FORCE_COLOR: '1' }), [true, true])
  assert.equal(await printed({ CI: 'true' }), [true, true])
  for (const env of [
    {},
    { CI: 'true', TERM: 'dumb' },
    { FORCE_COLOR: '1', NO_COLOR: '1' },
  ] as const)
    assert.equal(await printed(env), [false, false])
})

test('run --watch says when which file was saved, and what changed by it', async () => {
  await using space = await workspace({
    'eider.yml': 'name: s\n',
    'models/a/one.sql': 'select 1 as id\n',
    'models/a/two.sql': 'select 2 as id\n',
  })
  const run = start(space, ['run', '--watch'])
  await run.says('stderr', /waiting for changes/)
  const before = run.printed.stdout.length
  await space.write('models/a/two.sql', 'select 3 as id\n')
  await run.says('stderr', /\n\d\d:\d\d:\d\d {3}models\/a\/two\.sql\n/)
  await run.says('stdout', /1 built, 1 unchanged in/)
  const said = run.printed.stdout.slice(before)
  assert.match(said, /^\S+Z built +a\.two .*\n\S+Z 1 built, 1 unchanged in .*\n$/)
  assert.is(await run.stop(), 0)
})

test.run()
