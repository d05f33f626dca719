// Bodies that are spooled before they are sent, so that their resources are not held until a slow client has
// taken them. A short one stays in memory, the rest is a file that is gone when the answer is.

import { randomUUID } from 'node:crypto'
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../core/limits.ts'
import { Resources } from '../../core/resources.ts'
import { isDiskFull } from '../../files/system-errors.ts'
import { overloaded } from './admission.ts'

export interface SpooledBodies {
  /**
   * Reads all of `parts`; the result may be read once, until it is disposed of. Throws what `parts` throws, and
   * RequestError 503 when there is no room.
   */
  spool(parts: AsyncIterable<Buffer>): Promise<SpooledBody>
}

interface SpooledBody extends AsyncDisposable {
  readonly body: Buffer | AsyncIterable<Buffer>
}

export function createSpooledBodies(
  dir: string,
  maxBytes: number = limits.spooledBytes,
): SpooledBodies {
  let spooledBytes = 0

  /** Reserves so many bytes, released with `resources`. */
  function reserve(bytes: number, resources: Resources): void {
    if (spooledBytes + bytes > maxBytes) throw overloaded()
    spooledBytes += bytes
    resources.defer(() => void (spooledBytes -= bytes))
  }

  async function write(parts: AsyncIterable<Buffer>): Promise<SpooledBody> {
    await using resources = new Resources()
    const path = join(dir, `spooled-${randomUUID()}`)
    await orFull(mkdir(dir, { recursive: true }))
    const file = await orFull(open(path, 'wx+', 0o600))
    resources.defer(() => rm(path, { force: true }))
    resources.defer(() => file.close())
    let size = 0
    for await (const part of parts) {
      reserve(part.length, resources)
      await orFull(file.appendFile(part))
      size += part.length
    }
    const kept = resources.move()
    return { body: readWhole(file, size), [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose]() }
  }

  return {
    async spool(parts) {
      const rest = parts[Symbol.asyncIterator]()
      const pieces: Buffer[] = []
      let size = 0
      while (size <= limits.wholeAnswerBytes) {
        const { done, value } = await rest.next()
        if (done === true) return inMemory(Buffer.concat(pieces))
        pieces.push(value)
        size += value.length
      }
      return await write(joined(pieces, rest))
    },
  }
}

const inMemory = (body: Buffer): SpooledBody => ({
  body,
  [Symbol.asyncDispose]: () => Promise.resolve(),
})

async function orFull<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw isDiskFull(error) ? overloaded() : error
  }
}

async function* joined(
  first: readonly Buffer[],
  rest: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, void> {
  yield* first
  yield* { [Symbol.asyncIterator]: () => rest }
}

/** Throws when the file ends early: a short body must not look whole. */
async function* readWhole(file: FileHandle, size: number): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < size;) {
    const buffer = Buffer.allocUnsafe(Math.min(limits.sendAheadBytes, size - at))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
    if (bytesRead === 0) throw new Error(`a spooled body of ${size} bytes ends after ${at}`)
    yield buffer.subarray(0, bytesRead)
    at += bytesRead
  }
}
