// What comes of requests that wait for the answer to an equal one.

import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/http/request-error.ts'
import { AnswerCache } from '../../../src/odata/http/answer-cache.ts'
import { madeAnswers } from '../../../src/odata/http/answers.ts'
import { WHOLE } from '../../../src/access/reader.ts'
import type { Answer } from '../../../src/odata/answer/context.ts'

const asked = {
  snapshotId: 'first',
  url: '/odata/it',
  headers: { host: 'localhost' },
  reader: WHOLE,
  gone: new AbortController().signal,
}
const answer: Answer = {
  status: 200,
  headers: { ETag: 'W/"x"', 'Eider-Snapshot': 'first' },
  body: Buffer.from('{}'),
  rows: () => 0,
}
const busy = (status: number) => new RequestError(status, 'busy', 'no time')

/** Fails with each of `errors` in turn, then answers; each call takes a moment. */
function making(...errors: readonly RequestError[]) {
  let calls = 0
  return {
    make: async () => {
      const error = errors[calls++]
      await delay(5)
      if (error !== undefined) throw error
      return answer
    },
    calls: () => calls,
  }
}

const outcomes = (promises: readonly Promise<Answer>[]) =>
  Promise.all(
    promises.map((promise) =>
      promise.then(
        ({ status }) => status,
        ({ status }: RequestError) => status,
      ),
    ),
  )

for (const status of [503, 504])
  test(`who joined a query that ends with ${status} asks once more, all together`, async () => {
    const cache = new AnswerCache(madeAnswers, 1_000_000)
    const { make, calls } = making(busy(status))
    const asking = [1, 2, 3].map(() => cache.answer(asked, make))
    assert.equal(await outcomes(asking), [status, 200, 200])
    assert.is(calls(), 2)
  })

test('who has waited for two of them waits no longer', async () => {
  const cache = new AnswerCache(madeAnswers, 1_000_000)
  const { make, calls } = making(busy(504), busy(504))
  const asking = [1, 2, 3, 4].map(() => cache.answer(asked, make))
  assert.equal(await outcomes(asking), [504, 504, 504, 504])
  assert.is(calls(), 2)
})

test('what is wrong with the request itself is said once for all', async () => {
  const cache = new AnswerCache(madeAnswers, 1_000_000)
  const { make, calls } = making(busy(400))
  const asking = [1, 2, 3].map(() => cache.answer(asked, make))
  assert.equal(await outcomes(asking), [400, 400, 400])
  assert.is(calls(), 1)
})

test.run()
