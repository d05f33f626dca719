import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ServiceState, UpEvent } from '../../src/core/report/up.ts'
import { EnvironmentError } from '../../src/core/failures.ts'
import { Child } from '../../src/supervisor/child.ts'
import { Restarts } from '../../src/supervisor/restarts.ts'
import { ServiceChild } from '../../src/supervisor/service.ts'

test('a service is started again later each time, and given up with the fifth death within a minute', () => {
  const restarts = new Restarts()
  const delays = [0, 1.1, 3.2, 7.3, 15.4].map((s) => restarts.delayAfter(s * 1000, s * 1000 + 50))
  assert.equal(delays, [1000, 2000, 4000, 8000, null])
})

test('deaths that are further apart go on for ever, a minute apart in the end', () => {
  const restarts = new Restarts()
  let startedMs = 0
  const delays = Array.from({ length: 9 }, () => {
    const delayMs = restarts.delayAfter(startedMs, startedMs + 20_000)!
    startedMs += 20_000 + delayMs
    return delayMs / 1000
  })
  assert.equal(delays, [1, 2, 4, 8, 16, 32, 60, 60, 60])
  assert.is(restarts.delayAfter(startedMs, startedMs + 61_000), 1000)
})

/** A service that says that it listens, and dies. */
function mortal(code: string, events: UpEvent[]): ServiceChild {
  return new ServiceChild({
    name: 'serve',
    listens: true,
    start: (output) =>
      Child.start(
        { command: process.execPath, args: ['-e', code], cwd: process.cwd(), env: process.env },
        output,
      ),
    onEvent: (event) => events.push(event),
    onLog: () => {},
  })
}

const listening = `console.log('{"event":"listening","url":"http://127.0.0.1:1"}');`

test('a crash loop backs off and ends', async () => {
  const events: UpEvent[] = []
  const service = mortal(`${listening} process.exitCode = 9`, events)
  await service.ready
  const error = await service.done.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  assert.instance(error, EnvironmentError)
  assert.match((error as Error).message, 'serve ended 5 times within 60 seconds')
  const ends = events.flatMap((event) => (event.event === 'service-ended' ? [event] : []))
  assert.equal(
    ends.map(({ again_in_ms: ms }) => ms),
    [1000, 2000, 4000, 8000, null],
  )
  assert.is(ends[0]!.because, 'exit code 9')
  const { state, restarts, pid }: ServiceState = service.state()
  assert.equal({ state, restarts, pid }, { state: 'stopped', restarts: 4, pid: null })
})

test('a service that refuses to start is not tried again', async () => {
  const events: UpEvent[] = []
  const service = mortal('process.exitCode = 3', events)
  const error = await service.ready.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  assert.match((error as Error).message, 'serve does not start: exit code 3')
  assert.is(events.length, 1)
})

test.run()
