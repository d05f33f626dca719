import { cp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BufferUnavailableError } from '../../src/buffer/errors.ts'
import { TIME, drain, eventBytes, openBuffer, target } from '../support/open-buffer.ts'
import { failure } from '../support/failure.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

test('a directory that is removed under the buffer takes nothing more', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path)
  await buffer.append(target, [eventBytes('a')], TIME)
  await rm(join(directory.path, 'buffer'), { recursive: true })
  for (const event of ['b', 'c'])
    assert.instance(
      await failure(() => buffer.append(target, [eventBytes(event)], TIME)),
      BufferUnavailableError,
    )
  assert.is(buffer.stats().writable, false)
})

for (const isCopied of [false, true])
  test(`a directory that is moved away takes nothing more, with${isCopied ? '' : 'out'} a copy in its place`, async () => {
    await using directory = await temporaryDirectory()
    await using buffer = await openBuffer(directory.path)
    await buffer.append(target, [eventBytes('a')], TIME)
    const [here, elsewhere] = ['buffer', 'elsewhere'].map((name) => join(directory.path, name))
    await rename(here!, elsewhere!)
    if (isCopied) await cp(elsewhere!, here!, { recursive: true })
    for (const event of ['b', 'c'])
      assert.instance(
        await failure(() => buffer.append(target, [eventBytes(event)], TIME)),
        BufferUnavailableError,
      )
    assert.is(buffer.stats().writable, false)
  })

test('a state that is moved away takes no events for a target that is new, and another process may work in its place', async () => {
  await using directory = await temporaryDirectory()
  const state = join(directory.path, 'state')
  await using buffer = await openBuffer(state)
  await rename(state, join(directory.path, 'elsewhere'))
  await using other = await openBuffer(state)
  await other.append(target, [eventBytes('other')], TIME)
  assert.instance(
    await failure(() => buffer.append(target, [eventBytes('a')], TIME)),
    BufferUnavailableError,
  )
  assert.is(buffer.stats().writable, false)
  await other.append(target, [eventBytes('more')], TIME)
  const { events } = await drain(other)
  assert.equal(
    events.map(({ event }) => event),
    ['other', 'more'],
  )
})

test.run()
