// A daemon that starts while a run has the buffer open, and a second daemon.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eiderProcess, workspace } from '../support/workspace.ts'
import { startDaemon } from '../support/daemon-process.ts'

const project = {
  'eider.yml': 'name: locks\n',
  'models/raw/events.sql': '-- @kind: events\nid BIGINT',
}

/** As a living process that holds the buffer: this one. */
const lockOf = (role: string) =>
  JSON.stringify({
    pid: process.pid,
    host: hostname(),
    startedAt: '2026-01-01',
    process: null,
    role,
  })

test('E084 the daemon waits until the run is done with the buffer', async () => {
  await using space = await workspace(project)
  await space.write('.eider/collect.lock', lockOf('run'))
  const ports = ['--port', '0', '--admin-port', '0']
  const { command, args, env } = eiderProcess(['collect', 'daemon', ...ports])
  const daemon = spawn(command, args, { cwd: space.dir, env })
  const exited = once(daemon, 'exit')
  const [line] = (await once(daemon.stderr, 'data')) as [Buffer]
  assert.match(line.toString(), '"waiting-for-buffer","role":"run"')
  await rm(space.path('.eider/collect.lock'))
  const [ready] = (await once(daemon.stdout, 'data')) as [Buffer]
  assert.match(ready.toString(), 'listening on ')
  daemon.kill()
  assert.equal(await exited, [0, null])
})

test('E084 another daemon is an error at once', async () => {
  await using space = await workspace(project)
  await using daemon = await startDaemon(space)
  const startedMs = performance.now()
  const second = await space.ok(['collect', 'daemon', '--port', '0'], { exitCode: 3 })
  assert.match(second.stderr, `process ${daemon.pid}`)
  assert.ok(performance.now() - startedMs < 20_000)
  await daemon.stop('SIGKILL')
  await writeFile(space.path('.eider/collect.lock'), lockOf('daemon'))
  await space.ok(['collect', 'daemon', '--port', '0'], { exitCode: 3 })
})

test.run()
