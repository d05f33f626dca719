// Bodies that are spooled before they are sent, so that their resources are not held until a slow client has
// taken them. A short one stays in memory, the rest is a file that is gone when the answer is.

import { randomUUID } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../core/limits.ts'
import { Resources } from '../../core/resources.ts'
import { isDiskFull } from '../../files/system-errors.ts'
import { overloaded } from './admission.ts'
import { readFileRange } from './answer-files.ts'

export type SpooledBodies = ReturnType<typeof createSpooledBodies>

export function createSpooledBodies(dir: string, maxBytes: number = limits.spooledBytes) {
  let spooledBytes = 0

  /** Reserves so many bytes, released with `resources`. */
  function reserve(bytes: number, resources: Resources): void {
    if (spooledBytes + bytes > maxBytes) throw overloaded()
    spooledBytes += bytes
    resources.defer(() => void (spooledBytes -= bytes))
  }

  async function write(parts: AsyncIterable<Buffer>) {
    await using resources = new Resources()
    const path = join(dir, `spooled-${randomUUID()}`)
    await orFull(mkdir(dir, { recursive: true }))
    const file = await orFull(open(path, 'wx+', 0o600))
    resources.defer(() => rm(path, { force: true }))
    resources.use(file)
    let size = 0
    for await (const part of parts) {
      reserve(part.length, resources)
      await orFull(file.appendFile(part))
      size += part.length
    }
    return Object.assign(resources.move(), { body: readFileRange(file, 0, size) })
  }

  return {
    /**
     * Reads all of `parts`; the body may be read once, until the result is disposed of. Throws what `parts` throws, and
     * RequestError 503 when there is no room.
     */
    async spool(parts: AsyncIterable<Buffer>) {
      const rest = parts[Symbol.asyncIterator]()
      const pieces: Buffer[] = []
      let size = 0
      while (size <= limits.wholeAnswerBytes) {
        const { done, value } = await rest.next()
        if (done === true) return Object.assign(new Resources(), { body: Buffer.concat(pieces) })
        pieces.push(value)
        size += value.length
      }
      return await write(joined(pieces, rest))
    },
  }
}

async function orFull<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw isDiskFull(error) ? overloaded() : error
  }
}

async function* joined(first: readonly Buffer[], rest: AsyncIterator<Buffer>) {
  yield* first
  yield* { [Symbol.asyncIterator]: () => rest }
}
