import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { exitCodeOf, failureEvents, showFailure } from '../../src/cli/show-failure.ts'
import { EnvironmentError } from '../../src/core/failures.ts'

test('where clearing up fails too, what went wrong first is shown', async () => {
  const full = new EnvironmentError('no-space', 'the disk is full', { hint: 'free some space' })
  const failing = async () => {
    await using _lock = { [Symbol.asyncDispose]: () => Promise.reject(new Error('cannot unlock')) }
    await using _file = { [Symbol.asyncDispose]: () => Promise.reject(new Error('cannot close')) }
    throw full
  }
  const error: unknown = await failing().then(
    () => null,
    (thrown: unknown) => thrown,
  )
  assert.is.not(error, full)
  assert.is(exitCodeOf(error), 3)
  assert.is(
    showFailure(error, { verbose: false }),
    'error: the disk is full\nhint: free some space',
  )
  assert.match(failureEvents(error), '"message":"the disk is full"')
})

test.run()
