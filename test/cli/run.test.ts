import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository } from '../workspace.ts'

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

test.run()
