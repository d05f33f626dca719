// What waits in a buffer that another process may own: read from outside, nothing is locked or changed.

import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ModelName } from '../core/names.ts'
import type { WaitingSegment } from './claim-source.ts'
import { errorCode } from './errors.ts'
import { parseSegmentFileName, scanSegment, type SegmentName } from './segment.ts'
import { directoryName, parseDirectoryName } from './target-directory.ts'

/** Bytes of events of each target that has any; none where there is no buffer. */
export async function waitingBytes(bufferDir: string): Promise<ReadonlyMap<ModelName, number>> {
  const waiting = new Map<ModelName, number>()
  for (const name of await fileNamesIn(bufferDir)) {
    const target = parseDirectoryName(name)
    if (target === null) continue
    let bytes = 0
    for (const file of await fileNamesIn(join(bufferDir, name)))
      if (parseSegmentFileName(file) !== null) bytes += await sizeOf(join(bufferDir, name, file))
    if (bytes > 0) waiting.set(target, bytes)
  }
  return waiting
}

// A daemon may seal a segment, which changes its name, between reading the directory and reading the file.
const LOOKS = 5

/**
 * The segments of a target that have events, oldest first. One that is still written to, or has bytes that belong to no
 * valid group, is copied to `scratchDir` without them; the others are to be read in place.
 */
export async function waitingSegments(
  bufferDir: string,
  target: ModelName,
  scratchDir: string,
): Promise<readonly WaitingSegment[]> {
  const dir = join(bufferDir, directoryName(target))
  for (let look = 1; ; look++) {
    const names = (await fileNamesIn(dir)).flatMap((file) => {
      const name = parseSegmentFileName(file)
      return name === null ? [] : [{ file, name }]
    })
    names.sort((a, b) => a.name.number - b.name.number)
    try {
      const found: WaitingSegment[] = []
      for (const { file, name } of names) {
        const copy = join(scratchDir, `${directoryName(target)}-${name.number}`)
        const segment = await readSegment(join(dir, file), name, copy)
        if (segment.events > 0) found.push({ target, ...segment })
      }
      return found
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' || look === LOOKS) throw error
    }
  }
}

async function readSegment(
  path: string,
  { number, opening, state }: SegmentName,
  copy: string,
): Promise<Omit<WaitingSegment, 'target'>> {
  const bytes = await readFile(path)
  const { valid, events } = scanSegment(bytes, state)
  const [first] = valid
  const isWhole = valid.length === 1 && first?.start === 0 && first.end === bytes.length
  const found = { segment: number, opening, events }
  if (state !== 'open' && isWhole) return { ...found, url: pathToFileURL(path).href }
  if (events > 0)
    await writeFile(copy, Buffer.concat(valid.map(({ start, end }) => bytes.subarray(start, end))))
  return { ...found, url: pathToFileURL(copy).href }
}

/** None where the directory is gone, or is none. */
export const fileNamesIn = (dir: string): Promise<readonly string[]> =>
  readdir(dir).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return []
    throw error
  })

/** A segment may be flushed and gone between the two reads. */
const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )
