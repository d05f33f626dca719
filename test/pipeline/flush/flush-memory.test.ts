import { existsSync, statSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { events } from '../../support/handmade-models.ts'
import { openProject } from '../../support/pipeline-project.ts'

/** Bytes of the write-ahead log before each batch, of segments that are said to have so many bytes. */
async function logSizes(bytes: number, targets: readonly string[]): Promise<readonly number[]> {
  await using space = await openProject()
  const claims = new FakeClaims(space.path('buffer'))
  for (const [i, target] of targets.entries())
    await claims.add(target, [{ id: i }], { bytes, segment: i + 1 })
  const log = `${space.paths.database}.wal`
  const sizes: number[] = []
  const models = [...new Set(targets)].map((target) => events(target, { id: 'INTEGER!' }))
  await space.ok(models, {
    openClaims: () => Promise.resolve(claims),
    onFlushStep: (step) => {
      if (step === 'loaded') sizes.push(existsSync(log) ? statSync(log).size : 0)
    },
  })
  return sizes
}

test('after a large batch all is in the database file before the next one, so that this finds no memory taken', async () => {
  const [before, ...after] = await logSizes(limits.flushBytes, ['raw.e', 'raw.e', 'raw.e'])
  assert.ok(before! > 0)
  assert.equal(after, [0, 0])
})

test('the batches of several targets count together', async () => {
  const [first, second, third] = await logSizes(limits.flushBytes / 2, ['raw.a', 'raw.b', 'raw.c'])
  assert.ok(first! > 0 && second! > 0)
  assert.is(third, 0)
})

test('small batches are not worth it', async () => {
  const sizes = await logSizes(1, ['raw.a', 'raw.b', 'raw.c'])
  assert.is(sizes.length, 3)
  assert.ok(sizes.every((size) => size > 0))
})

test.run()
