// The reader of events against JSON.parse, and against the answers that were recorded of an earlier one.
//
// EIDER_EVENTS=1000000 tries so many events, and EIDER_EVENTS_SEED=2 begins elsewhere. EIDER_READER=../old/dist asks the
// reader of another build too.

import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MisspeltFields } from '../../../src/collect/validate/misspelt.ts'
import { createValidator, validateEvent } from '../../../src/collect/validate/validate-event.ts'
import type { RequestError } from '../../../src/http/request-error.ts'
import { eventsModel } from '../../support/handmade-models.ts'
import { EVERYDAY_COLUMNS, everydayEvent } from '../../support/everyday-events.ts'
import { randomColumns, randomEvent } from '../../support/random-events.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const EVENTS = Number(process.env['EIDER_EVENTS'] ?? 20_000)
const SEED = Number(process.env['EIDER_EVENTS_SEED'] ?? 1)
const OTHER_BUILD = process.env['EIDER_READER']
const EVENTS_OF_MODEL = 50
const MAX_EVENT_BYTES = 200
const MAX_EVERYDAY_BYTES = 1_000
const GOLDEN = new URL('../../../../test/golden/events/answers.txt', import.meta.url)

interface Reader {
  readonly createValidator: typeof createValidator
  readonly validateEvent: typeof validateEvent
  readonly MisspeltFields: typeof MisspeltFields
}

const ours: Reader = { createValidator, validateEvent, MisspeltFields }

interface Answer {
  readonly text: string
  /** The offset after the event, and what is stored; null for an event that is refused. */
  readonly taken: { readonly end: number; readonly stored: string } | null
  readonly code: string | null
}

/** What the reader says of each event of a model. */
function answersOf(reader: Reader, random: RandomEvents): readonly Answer[] {
  const { model, events, maxBytes } = random
  const validator = reader.createValidator(model)
  return events.map((event) => {
    const body = Buffer.from(event)
    const misspelt = new reader.MisspeltFields()
    try {
      const read = reader.validateEvent(validator, body, 0, body.length, maxBytes, misspelt)
      const taken = { end: read.end, stored: Buffer.from(read.stored).toString() }
      const warnings = JSON.stringify(
        misspelt
          .warnings(model.name)
          .map(({ target }) => target)
          .sort(),
      )
      return { text: `${taken.end} ${taken.stored} ${warnings}`, taken, code: null }
    } catch (error) {
      const { code, message, target, details } = error as RequestError
      if (code === undefined) throw error
      // What JSON.parse says differs between versions of Node.
      const said = code === 'invalid-json' ? '' : message
      return { text: JSON.stringify([code, said, target, details]), taken: null, code }
    }
  })
}

interface RandomEvents {
  readonly definitions: string
  readonly model: ReturnType<typeof eventsModel>
  readonly events: readonly string[]
  readonly maxBytes: number
}

function* randomModels(seed: number, count: number): Generator<RandomEvents> {
  const random = seededRandom(seed)
  for (let n = 0; n < count / EVENTS_OF_MODEL; n++) {
    const columns = randomColumns(random)
    const definitions = Array.from(columns, ([name, type]) => {
      const constraint = random() < 0.2 ? ' NOT NULL' : ''
      return `"${name.replaceAll('"', '""')}" ${type}${constraint}`
    })
    const events = Array.from({ length: EVENTS_OF_MODEL }, () => randomEvent(random, columns))
    const model = eventsModel('raw.t', ...definitions)
    yield { definitions: definitions.join(', '), model, events, maxBytes: MAX_EVENT_BYTES }
  }
}

function* everydayModels(seed: number, count: number): Generator<RandomEvents> {
  const random = seededRandom(seed)
  const definitions = Array.from(EVERYDAY_COLUMNS, ([name, type]) => `${name} ${type}`)
  const model = eventsModel('raw.t', ...definitions)
  for (let n = 0; n < count / EVENTS_OF_MODEL; n++) {
    const events = Array.from({ length: EVENTS_OF_MODEL }, () => everydayEvent(random))
    yield { definitions: 'everyday', model, events, maxBytes: MAX_EVERYDAY_BYTES }
  }
}

/** Half of them are of columns and values of any kind, half are such as senders send. */
function* allModels(): Generator<RandomEvents> {
  yield* randomModels(SEED, EVENTS / 2)
  yield* everydayModels(SEED, EVENTS / 2)
}

test(`${EVENTS} events of seed ${SEED}: what is taken is JSON, and means what was sent`, () => {
  const counts = { taken: 0, refused: 0, broken: 0 }
  for (const random of allModels())
    for (const [i, { taken, code }] of answersOf(ours, random).entries()) {
      const event = random.events[i]!
      const where = `${random.definitions}: ${event}`
      if (code === 'invalid-json') {
        counts.broken++
        // White space in front is for the caller to skip.
        if (event.startsWith('{')) assert.throws(() => JSON.parse(event), undefined, where)
      } else if (taken === null) counts.refused++
      else {
        counts.taken++
        const sent = Buffer.from(event).subarray(0, taken.end).toString()
        // Columns whose numbers are spelled oddly follow the event as text.
        const line = JSON.parse(`{"e":${taken.stored}}`) as { readonly e: object }
        assert.is(meaning(line.e), meaning(JSON.parse(sent)), where)
      }
    }
  for (const [what, count] of Object.entries(counts))
    assert.ok(count > EVENTS / 20, `${what}: ${count}`)
})

/** Numbers may have become texts of the same digits, and are compared as doubles. */
const meaning = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'string' && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(inner)
      ? Number(inner) + 0
      : inner,
  )

test('answers are as they were recorded', async () => {
  const lines: string[] = []
  const digest = createHash('sha256')
  for (const [n, random] of [...randomModels(1, 20_000)].entries()) {
    const texts = answersOf(ours, random).map(({ text }) => text)
    for (const text of texts) digest.update(`${text}\n`)
    if (n % 20 !== 0) continue
    lines.push(random.definitions)
    for (const [i, event] of random.events.slice(0, 10).entries())
      lines.push(`  ${JSON.stringify(event)}`, `    ${JSON.stringify(texts[i])}`)
  }
  const text = `${lines.join('\n')}\n${digest.digest('hex')}\n`
  if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(GOLDEN, text)
  const expected = (await readFile(GOLDEN, 'utf8')).split('\n')
  for (const [i, line] of text.split('\n').entries()) assert.is(line, expected[i])
})

if (OTHER_BUILD !== undefined)
  test(`${EVENTS} events of seed ${SEED}: another build says the same`, async () => {
    const at = (file: string) =>
      pathToFileURL(resolve(OTHER_BUILD, `src/collect/validate/${file}.js`)).href
    const theirs = {
      ...((await import(at('validate-event'))) as Reader),
      ...((await import(at('misspelt'))) as Reader),
    }
    for (const random of allModels()) {
      const expected = answersOf(theirs, random)
      for (const [i, { text }] of answersOf(ours, random).entries())
        assert.is(text, expected[i]!.text, `${random.definitions}: ${random.events[i]}`)
    }
  })

test.run()
