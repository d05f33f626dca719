import { spawnSync, type StdioOptions } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository, workspace } from '../support/workspace.ts'

test('an installation without its code is a failure of the tool, not of a project', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'eider-bin-'))
  try {
    await cp(join(repository, 'bin'), join(dir, 'bin'), { recursive: true })
    const { status, stderr } = spawnSync(process.execPath, [join(dir, 'bin', 'run.js'), 'run'], {
      encoding: 'utf8',
    })
    assert.is(status, 70)
    assert.match(stderr, /^error: eider cannot start: Cannot find module .*main\.cjs.\n$/)
  } finally {
    await rm(dir, { recursive: true })
  }
})

test('what is meant by an unknown command is a command that there is', async () => {
  await using space = await workspace()
  for (const [typed, meant] of [
    ['preview', 'odata preview'],
    ['staus', 'status'],
    ['rnu', 'run'],
    ['pipelin', 'pipeline'],
  ] as const) {
    const { stderr } = await space.ok([typed], { exitCode: 2 })
    assert.ok(stderr.endsWith(`hint: did you mean "eider ${meant}"?\n`), stderr)
  }
})

test('the usage line of a command has its name once, by its short and by its long name', async () => {
  await using space = await workspace()
  for (const command of ['run', 'pipeline run', 'plan', 'pipeline plan', 'ls', 'pipeline ls']) {
    const { stdout } = await space.ok([...command.split(' '), '--help'])
    assert.ok(stdout.includes(`$ eider ${command} [SELECTOR...] [FLAGS]\n`), stdout)
  }
})

test('output that the disk does not take is lost results, a log that it does not take is nothing', async () => {
  if (!existsSync('/dev/full')) return
  const full = openSync('/dev/full', 'w')
  await using space = await workspace({ 'eider.yml': 'name: shop\n' })
  const end = (stdio: StdioOptions, ...args: readonly string[]) =>
    spawnSync(process.execPath, [join(repository, 'bin', 'run.js'), ...args], {
      cwd: space.dir,
      stdio,
      encoding: 'utf8',
    })
  const lost = end(['ignore', full, 'pipe'], 'query', 'SELECT 1')
  assert.is(lost.status, 3)
  assert.match(lost.stderr, /^error: the output cannot be written: ENOSPC.*\n$/)
  assert.is(end(['ignore', 'pipe', full], 'query', 'SELECT x').status, 1)
  closeSync(full)
})

test.run()
