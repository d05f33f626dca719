// The journey of the README, as written there, in a shell of its own. Only the ports differ, so that it runs anywhere.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from './support/free-port.ts'
import { repository, workspace } from './support/workspace.ts'

const SECONDS = 60

test('the journey from an event to an answer', async () => {
  const readme = await readFile(join(repository, 'README.md'), 'utf8')
  const journey = /<!-- journey -->\s+```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  assert.ok(journey.includes('eider run'), 'the README has no journey')
  await using space = await workspace({
    'bin/eider': `#!/bin/sh\nexec "${process.execPath}" "${join(repository, 'bin/run.js')}" "$@"\n`,
  })
  await chmod(space.path('bin/eider'), 0o755)
  const [collect, admin, odata] = [await freePort(), await freePort(), await freePort()]
  const script = journey.replaceAll(':8080/', `:${collect}/`).replaceAll(':8090/', `:${odata}/`)

  // A process group of its own, so that what it leaves in the background can be ended with it.
  const shell = spawn('bash', ['-e', '-c', script], {
    cwd: space.dir,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PATH: space.path('bin') + delimiter + process.env['PATH'],
      COLLECT_PORT: String(collect),
      COLLECT_ADMIN_PORT: String(admin),
      ODATA_PORT: String(odata),
    },
  })
  let output = ''
  shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  shell.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const timer = setTimeout(() => process.kill(-shell.pid!, 'SIGKILL'), SECONDS * 1000)
  try {
    const [exitCode] = (await once(shell, 'exit')) as [number | null]
    assert.is(exitCode, 0, output)
    assert.match(output, /\{"accepted":16\}/)
    const answer = /\{"@odata\.context".*?\]\}/.exec(output)?.[0] ?? '{}'
    const rows = (JSON.parse(answer) as { value: unknown }).value
    assert.equal(rows, promisedRows(readme))
  } finally {
    clearTimeout(timer)
    process.kill(-shell.pid!, 'SIGTERM')
    await once(shell.stdout, 'close').catch(() => {})
  }
})

const promisedRows = (readme: string): unknown =>
  (JSON.parse(/```json\n([\s\S]*?)```/.exec(readme)?.[1] ?? '{}') as { value: unknown }).value

test.run()
