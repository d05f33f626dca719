import { existsSync, statSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { FakeClaims } from './fake-claims.ts'
import { events, fixture } from './fixture.ts'

/** Bytes of the write-ahead log when each claim is taken, of segments that are said to have so many bytes. */
async function logSizes(bytes: number): Promise<readonly number[]> {
  await using space = await fixture()
  const claims = new FakeClaims(space.path('buffer'))
  for (const id of [1, 2, 3]) await claims.add('raw.e', [{ id }], { bytes })
  const log = `${space.paths.database}.wal`
  const sizes: number[] = []
  await space.ok([events('raw.e', { id: 'INTEGER!' })], {
    openClaims: () => Promise.resolve(claims),
    onFlushStep: (step) => {
      if (step === 'claimed') sizes.push(existsSync(log) ? statSync(log).size : 0)
    },
  })
  return sizes
}

test('after a large batch all is in the database file, so that the next one starts with no memory taken', async () => {
  const [before, ...after] = await logSizes(limits.flushBytes)
  assert.ok(before! > 0)
  assert.equal(after, [0, 0])
})

test('small batches are not worth it', async () => {
  const sizes = await logSizes(1)
  assert.ok(sizes.every((size) => size > 0))
})

test.run()
