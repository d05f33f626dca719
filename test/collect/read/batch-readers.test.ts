// Batches that a thread reads: the same events, warnings and refusals as those that are read in place.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BatchReaders } from '../../../src/collect/read/batch-readers.ts'
import { readJsonBatch, readNdjsonBatch } from '../../../src/collect/read/read-events.ts'
import { MisspeltFields } from '../../../src/collect/validate/misspelt.ts'
import { createValidator, type Validator } from '../../../src/collect/validate/validate-event.ts'
import { limits } from '../../../src/core/limits.ts'
import { RequestError } from '../../../src/http/request-error.ts'
import { eventsModel } from '../../support/handmade-models.ts'

const target = 'raw.sales'
const validator = createValidator(
  eventsModel(target, 'id BIGINT NOT NULL', 'price DECIMAL(38,10)', 'note VARCHAR', 'doc JSON'),
)
const bounds = { maxEventBytes: limits.eventBytes, maxBatchBytes: limits.batchBytes }
const padding = 'x'.repeat(limits.batchReaderBytes)

const plain = (id: number) => JSON.stringify({ id, price: 1.5, note: 'é\r' })
/** Stored otherwise than they came: digits, numbers in JSON, and a text with line feeds around the tokens. */
const exact = (id: number) =>
  `{"id":${id},\n"price":12345678901234567890.1234567891,"doc":{"n":0.10}}`
const large = `{"id":0,"note":"${padding}"}`

type Format = 'json' | 'ndjson'
const bodyOf = (format: Format, events: readonly string[]) =>
  format === 'json'
    ? `[${events.join(', ')}]`
    : events.map((one) => one.replaceAll('\n', ' ')).join('\n')

/** Open from the first batch on, which waits for the thread. */
async function readers(): Promise<BatchReaders> {
  const opened = new BatchReaders(1)
  assert.is((await opened.read(batchOf('json', `[${large}]`)))?.events.length, 1)
  return opened
}

const batchOf = (format: Format, text: string, own: Validator = validator) => ({
  format,
  target,
  validator: own,
  body: Buffer.from(text),
  ...bounds,
})

function readHere(format: Format, text: string) {
  const misspelt = new MisspeltFields()
  const read = format === 'json' ? readJsonBatch : readNdjsonBatch
  const events = read(
    validator,
    Buffer.from(text),
    bounds.maxEventBytes,
    bounds.maxBatchBytes,
    misspelt,
  )
  return { events, warnings: misspelt.warnings(target) }
}

const shown = ({ events, warnings }: ReturnType<typeof readHere>) => ({
  events: events.map((event) => Buffer.from(event).toString()),
  warnings,
})

test('events and warnings are those of a batch that is read in place', async () => {
  await using opened = await readers()
  const many = Array.from({ length: 2_000 }, (_, id) => plain(id))
  for (const format of ['json', 'ndjson'] as const)
    for (const events of [
      many,
      [...many, ...many.map((_, id) => exact(id))],
      [large],
      [large, '{"id":1,"nota":"a misspelt name"}'],
    ]) {
      const text = bodyOf(format, events)
      const read = await opened.read(batchOf(format, text))
      assert.equal(shown(read!), shown(readHere(format, text)))
      assert.is(read!.events.length, events.length)
    }
})

test('a refusal has the status, the code and the place that it has elsewhere', async () => {
  await using opened = await readers()
  const refusals = [
    [large, '{"id":"x"}'],
    [large, '{"id":null}', '{}'],
    [large, '{"id":1,"id":2}'],
    [large, '[]'],
    [large, '{"id":1'],
  ]
  for (const format of ['json', 'ndjson'] as const)
    for (const events of refusals) {
      const text = bodyOf(format, events)
      const error = await refusalOf(() => opened.read(batchOf(format, text)))
      const expected = await refusalOf(() => readHere(format, text))
      assert.equal(factsOf(error), factsOf(expected))
    }
})

test('each batch is read by its own model, also by one that has changed', async () => {
  await using opened = await readers()
  const other = createValidator(eventsModel(target, 'note VARCHAR NOT NULL'))
  const text = `[${large}]`
  const withoutNote = `[{"id":1,"more":"${padding}"}]`
  for (let turn = 0; turn < 3; turn++) {
    assert.is((await opened.read(batchOf('json', text, other)))?.events.length, 1)
    assert.is((await opened.read(batchOf('json', withoutNote)))?.events.length, 1)
    const error = await refusalOf(() => opened.read(batchOf('json', withoutNote, other)))
    assert.is(error.code, 'missing-field')
  }
})

test('a thread knows so many validators, and reads by any of them', async () => {
  await using opened = await readers()
  for (let n = 0; n < limits.validatorsOfReader + 2; n++) {
    const one = createValidator(eventsModel(target, `c${n} BIGINT NOT NULL`))
    const body = `[{"c${n}":${n},"more":"${padding}"}]`
    assert.is((await opened.read(batchOf('json', body, one)))?.events.length, 1)
  }
  assert.is((await opened.read(batchOf('json', `[${large}]`)))?.events.length, 1)
})

test('what is small, and what a busy thread would make wait, is left to the caller', async () => {
  await using opened = await readers()
  assert.is(opened.read(batchOf('json', `[${plain(1)}]`)), null)
  const given = Array.from({ length: limits.batchesOfReader + 1 }, () =>
    opened.read(batchOf('json', `[${large}]`)),
  )
  assert.is(given.at(-1), null)
  for (const read of given.slice(0, -1)) assert.is((await read)?.events.length, 1)
  assert.is((await opened.read(batchOf('json', `[${large}]`)))?.events.length, 1)
  assert.is(new BatchReaders(0).read(batchOf('json', `[${large}]`)), null)
})

test('a body that is a part of other memory is copied', async () => {
  await using opened = await readers()
  const memory = Buffer.from(`before[${large}]`)
  const body = memory.subarray('before'.length)
  const read = await opened.read({ ...batchOf('json', ''), body })
  assert.is(Buffer.from(read!.events[0]!).toString(), large)
  assert.is(memory.toString('latin1', 0, 7), 'before[')
})

test('what is being read when the readers are closed is refused', async () => {
  const opened = await readers()
  const reading = opened.read(batchOf('json', `[${large}]`))
  const outcome = reading!.then(
    () => 'read',
    (error: unknown) => String(error),
  )
  await opened[Symbol.asyncDispose]()
  assert.match(await outcome, /has ended|^read$/)
})

const factsOf = ({ status, code, message, target, details, headers }: RequestError) => ({
  status,
  code,
  message,
  target,
  details,
  headers,
})

async function refusalOf(work: () => unknown): Promise<RequestError> {
  try {
    await work()
  } catch (error) {
    if (error instanceof RequestError) return error
    throw error
  }
  throw new Error('it was let in')
}

test.run()
