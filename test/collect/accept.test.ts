// Where a batch is read: in a thread, or in turns of the event loop that others come between.

import { setImmediate } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RequestKey } from '../../src/buffer/request-key.ts'
import { accept, type AcceptOptions } from '../../src/collect/accept.ts'
import type { ReadBatch } from '../../src/collect/read/batch-readers.ts'
import { createValidator } from '../../src/collect/validate/validate-event.ts'
import { limits } from '../../src/core/limits.ts'
import type { ModelName } from '../../src/core/names.ts'
import { eventsModel } from '../support/handmade-models.ts'

const to = {
  target: 'raw.sales' as ModelName,
  validator: createValidator(eventsModel('raw.sales', 'id BIGINT NOT NULL')),
}
const key: RequestKey = { key: 'a', body: 'b' }
const large = (id: string) => Buffer.from(`[{"id":${id}}${' '.repeat(limits.batchReaderBytes)}]`)

/** A buffer that knows the keys of `known`, and threads that read what `reads` gives. */
function options(reads: () => Promise<ReadBatch> | null, known: readonly string[] = []) {
  const stored: string[] = []
  const append = (_target: string, events: readonly Uint8Array[]) => {
    stored.push(...events.map((event) => Buffer.from(event).toString()))
    return Promise.resolve()
  }
  const appendOnce = async (target: string, own: RequestKey, read: () => readonly Uint8Array[]) => {
    if (known.includes(own.key)) return 7
    const events = read()
    await append(target, events)
    return events.length
  }
  const given = {
    buffer: { append, appendOnce },
    readers: { read: reads },
    maxEventBytes: limits.eventBytes,
    maxBatchBytes: limits.batchBytes,
  }
  return { given: given as unknown as AcceptOptions, stored }
}

test('a batch with a key is read by a thread, too', async () => {
  const batch = { events: [Buffer.from('{"id":1}')], warnings: [] }
  const first = options(() => Promise.resolve(batch))
  assert.is((await accept(first.given, to, 'json', large('"not read here"'), key)).count, 1)
  assert.equal(first.stored, ['{"id":1}'])
})

test('what a thread refuses is refused, unless it is a repeat', async () => {
  const refused = () => Promise.reject(new Error('of the thread'))
  const first = options(refused)
  await accept(first.given, to, 'json', large('1'), key).then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'of the thread'),
  )
  const repeat = options(refused, ['a'])
  assert.is((await accept(repeat.given, to, 'json', large('1'), key)).count, 7)
})

test('of large batches that no thread takes, each is read in another turn of the event loop', async () => {
  const { given, stored } = options(() => null)
  const batches = ['1', '2', '3'].map((id, i) =>
    accept(given, to, 'json', large(id), i === 1 ? key : null),
  )
  const seen: number[] = []
  while (stored.length < 3) {
    seen.push(stored.length)
    await setImmediate()
  }
  await Promise.all(batches)
  for (const count of [0, 1, 2]) assert.ok(seen.includes(count), `${seen.join()}`)
})

test.run()
