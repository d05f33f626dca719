// kill -9 of a run after each step of the flush, with the real buffer, which dies with the run, lives on, or is restarted
// before the next run.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { EventBuffer } from '../../src/buffer/buffer.ts'
import type { ClaimSource } from '../../src/buffer/claim-source.ts'
import type { ModelName } from '../../src/core/names.ts'
import { sql } from '../../src/core/sql.ts'
import type { FlushStep } from '../../src/pipeline/flush/flush.ts'
import { collected } from '../support/killed-run-project.ts'
import { openBuffer } from '../support/open-buffer.ts'
import { isOnLake, openProject, type TestProject } from '../support/pipeline-project.ts'
import { modelName } from '../support/model-name.ts'

const target = modelName('raw.e')

/** PostgreSQL sees only after a moment that a run is gone, and keeps its lock until then. */
const LOCK_WAIT_MS = 10_000

const steps: readonly FlushStep[] = [
  ...(['claimed', 'loaded', 'begun', 'inserted', 'recorded'] as const),
  ...(['committed', 'acked', 'record-deleted'] as const),
]

test('killed after each step together with its buffer: every event is in the table once', async () => {
  for (const step of steps) {
    await using space = await openProject()
    await append(space, [1, 2, 3])
    await killRun(space, step, null)
    await append(space, [4])
    await space.ok(collected, {
      openClaims: () => openBuffer(space.paths.state),
      lockWaitMs: LOCK_WAIT_MS,
    })
    await assertOnce(space, step)
  }
})

test('killed after each step, the buffer lives on: every event is in the table once', async () => {
  for (const step of steps) {
    await using space = await openProject()
    await append(space, [1, 2, 3])
    await using buffer = await openBuffer(space.paths.state)
    await killRun(space, step, buffer)
    await buffer.append(target, [event(4)], new Date().toISOString())
    await space.ok(collected, {
      openClaims: () => Promise.resolve(lend(buffer)),
      lockWaitMs: LOCK_WAIT_MS,
    })
    await assertOnce(space, step)
  }
})

test('killed after each step, the buffer restarts after it: every event is in the table once', async () => {
  for (const step of steps) {
    await using space = await openProject()
    await append(space, [1, 2, 3])
    {
      await using buffer = await openBuffer(space.paths.state)
      await killRun(space, step, buffer)
      await buffer.append(target, [event(4)], new Date().toISOString())
    }
    await space.ok(collected, {
      openClaims: () => openBuffer(space.paths.state),
      lockWaitMs: LOCK_WAIT_MS,
    })
    await assertOnce(space, step)
  }
})

const event = (id: number) => Buffer.from(`{"id":${id},"note":"n"}`)

async function append(space: TestProject, ids: readonly number[]): Promise<void> {
  await using buffer = await openBuffer(space.paths.state)
  await buffer.append(target, ids.map(event), new Date().toISOString())
}

async function assertOnce(space: TestProject, step: string): Promise<void> {
  const ids = [1, 2, 3, 4]
  const rows = await space.rows(sql`SELECT id FROM raw.e ORDER BY id`)
  const expected = ids.map((id) => ({ id }))
  assert.equal(rows, expected, `killed after step "${step}"`)
  if (!isOnLake) assert.equal(await space.rows(sql`FROM _eider.acks`), [])
  const counts = ids.map((id) => ({ id, n: 1 }))
  assert.equal(await space.rows(sql`FROM mart.n ORDER BY id`), counts)
}

/** The buffer for a run that must not close it. */
const lend = (buffer: EventBuffer): ClaimSource => ({
  targets: () => buffer.targets(),
  inflight: (name) => buffer.inflight(name),
  claim: (name) => buffer.claim(name),
  verify: (claim) => buffer.verify(claim),
  damaged: () => buffer.damaged(),
  ack: (claim) => buffer.ack(claim),
  nack: (claim) => buffer.nack(claim),
  [Symbol.asyncDispose]: () => Promise.resolve(),
})

/** Runs until it kills itself; `buffer` answers its calls, or it opens one of its own. */
async function killRun(
  space: TestProject,
  step: string,
  buffer: EventBuffer | null,
): Promise<void> {
  const script = fileURLToPath(new URL('../support/run-child.js', import.meta.url))
  const child = fork(script, [
    JSON.stringify(space.paths),
    step,
    buffer === null ? 'own' : 'parent',
  ])
  child.on('message', ({ method, argument }: BufferCall) => {
    void buffer?.[method](argument).then((result: unknown) => child.send({ result }))
  })
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  assert.is(signal, 'SIGKILL', `step "${step}" was not reached`)
}

interface BufferCall {
  readonly method: 'inflight'
  readonly argument: ModelName
}

test.run()
