// The lock file of a buffer is deleted while its process works, and another process takes the buffer.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EventBuffer } from '../../src/buffer/buffer.ts'
import { BufferUnavailableError } from '../../src/buffer/errors.ts'
import { type Files, realFiles } from '../../src/buffer/files.ts'
import { failure } from '../support/failure.ts'
import { drain, eventBytes, openBuffer, readClaim, target, TIME } from '../support/open-buffer.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

test('a buffer takes nothing more once its lock is deleted, also for a target that is open', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path)
  await buffer.append(target, [eventBytes('a')], TIME)
  await rm(join(directory.path, 'collect.lock'))
  for (const event of ['b', 'c'])
    assert.instance(
      await failure(() => buffer.append(target, [eventBytes(event)], TIME)),
      BufferUnavailableError,
    )
  assert.is(buffer.stats().writable, false)
  await using other = await openBuffer(directory.path)
  const { events } = await drain(other)
  assert.equal(
    events.map(({ event }) => event),
    ['a'],
  )
})

test('what is accepted while another process takes the buffer over is in what that hands out', async () => {
  await using directory = await temporaryDirectory()
  await using buffer = await openBuffer(directory.path)
  const accepted = ['a']
  await buffer.append(target, [eventBytes('a')], TIME)
  await rm(join(directory.path, 'collect.lock'))
  // After it has read the segment, and before that has another name.
  const files: Files = {
    ...realFiles,
    async rename(from, to) {
      const error = await failure(() => buffer.append(target, [eventBytes('b')], TIME))
      if (error === null) accepted.push('b')
      await realFiles.rename(from, to)
    },
  }
  await using other = await openWith(directory.path, files)
  const { events } = await drain(other)
  assert.equal(
    events.map(({ event }) => event),
    accepted,
  )
})

test('what is refused while another process takes the buffer over is handed out by nobody', async () => {
  await using directory = await temporaryDirectory()
  let other: EventBuffer | null = null
  let isTakenOver = false
  // After the write, and before its sync.
  const files: Files = {
    ...realFiles,
    async open(path, flags) {
      const file = await realFiles.open(path, flags)
      return {
        ...file,
        async fdatasync(name) {
          if (isTakenOver) other ??= await openWith(directory.path, realFiles)
          await file.fdatasync(name)
        },
      }
    },
  }
  await using buffer = await openWith(directory.path, files)
  await buffer.append(target, [eventBytes('a')], TIME)
  await rm(join(directory.path, 'collect.lock'))
  isTakenOver = true
  const error = await failure(() => buffer.append(target, [eventBytes('b')], TIME))
  assert.instance(error, BufferUnavailableError)
  await using taken = other!
  await taken.append(target, [eventBytes('c')], TIME)
  const handedOut: unknown[] = []
  for (let claim = await taken.claim(target); claim !== null; claim = await taken.claim(target)) {
    const whole = await taken.verify(claim)
    if (whole === null) continue
    handedOut.push(...(await readClaim(whole)).map(({ event }) => event))
    await taken.ack(whole)
  }
  assert.equal(handedOut, ['a', 'c'])
})

const openWith = (directory: string, files: Files) =>
  EventBuffer.open({
    dir: join(directory, 'buffer'),
    lockFile: join(directory, 'collect.lock'),
    maxBufferBytes: 1e9,
    logger: silentLogger,
    files,
  })

test.run()
