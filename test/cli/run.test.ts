import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository, workspace } from '../workspace.ts'

test('an installation without its code is a failure of the tool, not of a project', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'eider-bin-'))
  try {
    await cp(join(repository, 'bin'), join(dir, 'bin'), { recursive: true })
    const { status, stderr } = spawnSync(process.execPath, [join(dir, 'bin', 'run.js'), 'run'], {
      encoding: 'utf8',
    })
    assert.is(status, 70)
    assert.match(stderr, /^error: eider cannot start: Cannot find module .*main\.js.*\n$/)
  } finally {
    await rm(dir, { recursive: true })
  }
})

test('what is meant by an unknown command is a command that there is', async () => {
  await using space = await workspace()
  for (const [typed, meant] of [
    ['preview', 'odata preview'],
    ['staus', 'collect status'],
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

test.run()
