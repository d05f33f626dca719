// The engine works while an answer is being sent.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { Texts, TextStream } from '../../../src/duckdb/text-stream.ts'
import { serve, type Table } from './publish.ts'

const ROWS = 40_000
const numbers: Table = {
  model: 'shop.numbers',
  key: ['id'],
  rows: sql`SELECT i AS id, 'a name of some length ' || i AS name FROM range(${sql.value(ROWS)}) AS r(i)`,
}

/** Calls `before` before each call of the method; the result ends that. */
function onCall(prototype: object, name: string, before: () => void): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name)!
  const method = descriptor.value as (this: unknown) => unknown
  Object.defineProperty(prototype, name, {
    ...descriptor,
    value(this: unknown) {
      before()
      return method.call(this)
    },
  })
  return () => void Object.defineProperty(prototype, name, descriptor)
}

test('the engine is asked for the next texts of a stream before the last ones are copied', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers])
  let asked = 0
  const askedAtCopy: number[] = []
  resources.defer(onCall(TextStream.prototype, 'next', () => asked++))
  resources.defer(onCall(Texts.prototype, 'copy', () => askedAtCopy.push(asked)))
  const answer = await served.get('shop_numbers', { prefer: `maxpagesize=${ROWS}` })
  assert.is(answer.json.value.length, ROWS)
  assert.ok(askedAtCopy.length > 10, String(askedAtCopy))
  // The first texts are copied before anything is sent, and behind the last ones there are none.
  for (const [i, count] of askedAtCopy.slice(0, -1).entries())
    if (i > 0) assert.ok(count > i + 1, `${count} were asked for when text ${i + 1} was copied`)
})

test.run()
