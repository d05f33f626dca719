// The engine works while an answer is being sent.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { TextStream } from '../../../src/duckdb/vectors/text-stream.ts'
import { serve } from '../../support/odata-service.ts'
import type { Table } from '../../support/snapshot-files.ts'

const ROWS = 40_000
const numbers: Table = {
  model: 'shop.numbers',
  key: ['id'],
  rows: sql`SELECT i AS id, 'a name of some length ' || i AS name FROM range(${sql.value(ROWS)}) AS r(i)`,
}

test('the engine is asked for the next texts of a stream before the last ones are copied', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers])
  let asked = 0
  const askedAtCopy: number[] = []
  const descriptor = Object.getOwnPropertyDescriptor(TextStream.prototype, 'next')!
  const next = descriptor.value as (this: TextStream) => ReturnType<TextStream['next']>
  resources.defer(() => void Object.defineProperty(TextStream.prototype, 'next', descriptor))
  TextStream.prototype.next = async function (this: TextStream) {
    asked++
    const part = await next.call(this)
    if (part === null) return null
    const copy = part.copy.bind(part)
    return Object.assign(part, {
      copy: () => {
        askedAtCopy.push(asked)
        return copy()
      },
    })
  }
  const answer = await served.get('shop_numbers', { prefer: `maxpagesize=${ROWS}` })
  assert.is(answer.json.value.length, ROWS)
  assert.ok(askedAtCopy.length > 10, String(askedAtCopy))
  // The first texts are copied before anything is sent, and behind the last ones there are none.
  for (const [i, count] of askedAtCopy.slice(0, -1).entries())
    if (i > 0) assert.ok(count > i + 1, `${count} were asked for when text ${i + 1} was copied`)
})

test.run()
