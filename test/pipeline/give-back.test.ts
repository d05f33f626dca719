import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FakeClaims } from './fake-claims.ts'
import { events, fixture, resultOf } from './fixture.ts'

class StubbornClaims extends FakeClaims {
  override nack(): Promise<number> {
    return Promise.reject(new Error('the buffer is gone'))
  }
}

test('a batch that the buffer does not take back fails for its own reason', async () => {
  await using space = await fixture()
  const claims = new StubbornClaims(space.path('buffer'))
  await claims.add('raw.e', [{ id: 1 }], { counted: 2 })
  const warnings: string[] = []
  const warn = (event: string) => void warnings.push(event)
  const logger = { debug() {}, info() {}, warn, error() {}, child: () => logger }
  const model = events('raw.e', { id: 'INTEGER' })
  const summary = await space.run([model], { openClaims: () => Promise.resolve(claims), logger })
  assert.match(resultOf(summary, 'raw.e').because, /holds 1 events, but 2 were accepted/)
  assert.equal(warnings, ['flush-claim-left-open'])
})

test.run()
