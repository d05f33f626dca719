import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const module = fileURLToPath(new URL('../../src/cli/signals.js', import.meta.url))

/**
 * A process with work that never ends, on its own thread and on one of the pool, as statements are, to which the signals
 * come one after the other. Gives its exit code, or the signal that ended it.
 */
async function endOf(...signals: readonly NodeJS.Signals[]): Promise<unknown> {
  const script = `
    import { pbkdf2 } from 'node:crypto'
    import { onStop } from ${JSON.stringify(`file://${module}`)}
    const stop = onStop()
    setInterval(() => {}, 1000)
    if (${signals.length > 1}) pbkdf2('', '', 2 ** 31 - 1, 64, 'sha512', () => {})
    const [first, ...more] = ${JSON.stringify(signals)}
    process.kill(process.pid, first)
    await stop.asked
    for (const signal of more) process.kill(process.pid, signal)
    if (more.length === 0) process.exit(stop.exitCode())
  `
  return await endOfScript(script)
}

/** The exit code of a process that runs the script, or the signal that ended it. */
async function endOfScript(script: string): Promise<unknown> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: 'inherit',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return signal ?? code
}

test('the first signal asks for a stop and gives the exit code', async () => {
  assert.is(await endOf('SIGINT'), 130)
  assert.is(await endOf('SIGTERM'), 143)
})

test('a second interrupt ends the process at once, whatever still runs', async () => {
  assert.is(await endOf('SIGINT', 'SIGINT'), 'SIGINT')
  assert.is(await endOf('SIGTERM', 'SIGINT'), 'SIGINT')
})

test('a command that has stopped ends its process, whatever a library has left open', async () => {
  const stopped = `
    import { onStop } from ${JSON.stringify(`file://${module}`)}
    const stop = onStop()
    setInterval(() => {}, 1000)
    process.kill(process.pid, 'SIGTERM')
    await stop.asked
    process.exitCode = stop.exitCode()
    stop[Symbol.dispose]()
  `
  assert.is(await endOfScript(stopped), 143)
})

test.run()
