import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Claim } from '../../../src/buffer/claim-source.ts'
import { sql } from '../../../src/core/sql.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { events } from '../../support/handmade-models.ts'
import { openProject, type TestProject, resultOf } from '../../support/pipeline-project.ts'

class StubbornClaims extends FakeClaims {
  override nack(): Promise<number> {
    return Promise.reject(new Error('the buffer is gone'))
  }
}

/** Why the flush failed, and what was logged meanwhile. */
async function failedFlush(space: TestProject, claims: FakeClaims) {
  const warnings: string[] = []
  const warn = (event: string) => void warnings.push(event)
  const logger = { debug() {}, info() {}, warn, error() {}, child: () => logger }
  const model = events('raw.e', { id: 'INTEGER' })
  const summary = await space.run([model], { openClaims: () => Promise.resolve(claims), logger })
  return { because: resultOf(summary, 'raw.e').because, warnings }
}

test('a batch that the buffer does not take back fails for its own reason', async () => {
  await using space = await openProject()
  const claims = new StubbornClaims(space.path('buffer'))
  await claims.add('raw.e', [{ id: 1 }], { counted: 2 })
  const { because, warnings } = await failedFlush(space, claims)
  assert.match(because, /holds 1 events, but 2 were accepted/)
  assert.equal(warnings, ['flush-claim-left-open'])
})

test('a buffer that does not take back one claim is not asked about the others', async () => {
  await using space = await openProject()
  const claims = new StubbornClaims(space.path('buffer'))
  for (let i = 0; i < 3; i++) await claims.add('raw.e', [{ id: 1 }], { counted: 2 })
  const { because, warnings } = await failedFlush(space, claims)
  assert.match(because, /holds 1 events, but 2 were accepted/)
  assert.equal(warnings, ['flush-claim-left-open'])
})

/** Of the first claim other bytes are read than were accepted. The first answer to a nack is lost, and others send events. */
class ChangedAndCutOff extends FakeClaims {
  #isChanged = false
  #isCutOff = false

  override async verify(claim: Claim): Promise<Claim> {
    if (this.#isChanged) return claim
    this.#isChanged = true
    return { ...claim, bytes: claim.bytes - 1 }
  }

  override async nack(claim: Claim): Promise<number> {
    const returned = await super.nack(claim)
    if (this.#isCutOff) return returned
    this.#isCutOff = true
    await this.add('raw.e', [{ id: 3 }])
    throw new Error('the connection was cut')
  }
}

test('no event is lost of a batch that has changed and that the buffer has taken back in part', async () => {
  await using space = await openProject()
  const claims = new ChangedAndCutOff(space.path('buffer'))
  for (const id of [1, 2]) await claims.add('raw.e', [{ id }])
  const model = events('raw.e', { id: 'INTEGER' })
  const run = () => space.run([model], { openClaims: () => Promise.resolve(claims) })
  await run().catch(({ message }: Error) => assert.is(message, 'the connection was cut'))
  await run()
  const rows = await space.rows(sql`SELECT id FROM raw.e ORDER BY id`)
  assert.equal(rows, [{ id: 1 }, { id: 2 }, { id: 3 }])
})

test('a segment that the disk does not give back fails its model alone, and waits for another run', async () => {
  await using space = await openProject()
  const claims = new FakeClaims(space.path('buffer'))
  const { url } = await claims.add('raw.e', [{ id: 1 }])
  const { pathname } = new URL(url)
  const refusal = { code: 'EIO', syscall: 'read', path: pathname }
  claims.verify = () => Promise.reject(Object.assign(new Error('EIO'), refusal))
  const { because } = await failedFlush(space, claims)
  assert.match(because, `${pathname} cannot be read: `)
  assert.equal(claims.calls, ['claim raw.e/1', 'nack raw.e/1'])
})

test.run()
