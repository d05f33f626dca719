import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const module = fileURLToPath(new URL('../../src/cli/signals.js', import.meta.url))

/** A process with work that never ends, to which the signals come one after the other. */
async function endOf(...signals: readonly NodeJS.Signals[]): Promise<unknown> {
  const script = `
    import { onStop } from ${JSON.stringify(`file://${module}`)}
    const stop = onStop()
    setInterval(() => {}, 1000)
    const [first, ...more] = ${JSON.stringify(signals)}
    process.kill(process.pid, first)
    await stop.asked
    for (const signal of more) process.kill(process.pid, signal)
    if (more.length === 0) process.exit(stop.exitCode())
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
  return (await once(child, 'exit'))[0]
}

test('the first signal asks for a stop and gives the exit code', async () => {
  assert.is(await endOf('SIGINT'), 130)
  assert.is(await endOf('SIGTERM'), 143)
})

test('a second interrupt ends the process at once, whatever still runs', async () => {
  assert.is(await endOf('SIGINT', 'SIGINT'), 130)
  assert.is(await endOf('SIGTERM', 'SIGINT'), 130)
})

test.run()
