// Bytes of a segment that change after it was claimed, and before DuckDB has read them.

import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Claim, locationOf } from '../../../src/buffer/claim-source.ts'
import { sql } from '../../../src/core/sql.ts'
import { flipBit } from '../../support/flip-bit.ts'
import { events } from '../../support/handmade-models.ts'
import { openBuffer, target, TIME } from '../../support/open-buffer.ts'
import { openProject, statuses } from '../../support/pipeline-project.ts'

const model = events(target, { id: 'INTEGER', name: 'VARCHAR' })

for (const [what, byte] of [
  ['a quote, so that a line is no JSON any more', '"kept"'],
  ['a digit, so that a value does not fit', '7,'],
  ['a letter, so that another value would be stored', 'kept"'],
] as const)
  test(`${what}: every other group is in the table, and what has changed is kept`, async () => {
    await using space = await openProject()
    const buffer = await openBuffer(space.path('.'))
    for (const id of [1, 7, 3])
      await buffer.append(target, [Buffer.from(`{"id":${id},"name":"kept"}`)], TIME)
    let flips = 0
    const summary = await space.run([model], {
      openClaims: () => Promise.resolve(buffer),
      onFlushStep: async (step) => {
        if (step !== 'loaded' || flips > 0) return
        flips++
        const [claim] = await buffer.inflight(target)
        const path = locationOf(claim!)
        const text = await readFile(path, 'latin1')
        await flipBit(path, text.indexOf(byte, text.indexOf('"id":7')))
      },
    })
    assert.equal(statuses(summary), { [target]: 'built' })
    assert.equal(summary.flushed, [{ model: target, events: 2, rejected: 0 }])
    assert.equal(
      (await space.rows(sql`SELECT id FROM ${sql.relation(target)} ORDER BY id`)).map(
        ({ id }) => id,
      ),
      [1, 3],
    )
    assert.equal(await space.rows(sql`FROM _eider.rejected_events`), [])
    await using again = await openBuffer(space.path('.'))
    assert.equal(
      (await again.damaged()).map(({ events: lost }) => lost),
      [1],
    )
  })

test('a disk that gives other bytes at each reading fails the model, and the events stay', async () => {
  await using space = await openProject()
  const buffer = await openBuffer(space.path('.'))
  await buffer.append(target, [Buffer.from('{"id":1,"name":"kept"}')], TIME)
  const never = new Proxy(buffer, {
    get(_, name) {
      if (name === 'verify')
        return (claim: Claim) => Promise.resolve({ ...claim, bytes: claim.bytes - 1 })
      const value: unknown = Reflect.get(buffer, name)
      return typeof value === 'function' ? value.bind(buffer) : value
    },
  })
  const summary = await space.run([model], { openClaims: () => Promise.resolve(never) })
  assert.equal(statuses(summary), { [target]: 'failed' })
  assert.match(
    JSON.stringify(summary),
    /have other bytes each time they are read, 100 times by now/,
  )
  await space.run([model], { openClaims: () => openBuffer(space.path('.')) })
  assert.equal(await space.rows(sql`SELECT id FROM ${sql.relation(target)}`), [{ id: 1 }])
})

test.run()
