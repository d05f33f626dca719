// What the buffer does with the segments that it finds: keeps every valid group, cuts off torn tails, and puts damaged
// bytes aside. Afterwards no segment is open and each one is exactly a sequence of valid groups.

import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { crcDigits } from '../core/hash.ts'
import { EnvironmentError } from '../core/failures.ts'
import type { Logger } from '../core/logger.ts'
import { readAll, writeAtomically, type Files } from './files.ts'
import { type FoundKey, keysIn } from './request-key.ts'
import {
  parseSegmentFileName,
  scanSegment,
  segmentFileName,
  type EventStamp,
  type Range,
  type SegmentName,
  type SegmentScan,
} from './segment.ts'

/** A segment with events that is no longer appended to. */
export interface Segment {
  readonly name: SegmentName
  readonly path: string
  readonly sizeBytes: number
  readonly events: number
  readonly first: EventStamp
  readonly last: EventStamp
  /** When it got its state. */
  readonly changedAt: Date
}

export interface Place {
  readonly directory: string
  readonly files: Files
  readonly logger: Logger
}

/** The part of their names that all segments created from now on share. */
export type Origin = Pick<SegmentName, 'begin' | 'opening'>

interface RecoveredDirectory {
  /** Ascending by number. */
  readonly segments: readonly Segment[]
  /** Segments without events, to be removed as soon as one with a higher number is on disk. */
  readonly emptyPaths: readonly string[]
  readonly origin: Origin
  readonly nextNumber: number
  readonly nextSeq: number
  /** Keys of requests whose events are in the segments. */
  readonly keys: readonly FoundKey[]
}

export async function recoverDirectory(place: Place): Promise<RecoveredDirectory> {
  const fileNames = await place.files.readdir(place.directory)
  for (const fileName of fileNames)
    if (fileName.endsWith('.tmp')) await place.files.unlink(join(place.directory, fileName))
  const names = fileNames.map(parseSegmentFileName).filter((name) => name !== null)
  names.sort((a, b) => a.number - b.number)
  refuseDoubleNumbers(place, names)

  const segments: Segment[] = []
  const emptyPaths: string[] = []
  const keys: FoundKey[] = []
  let nextSeq = 1
  for (const name of names) {
    const segment = await recoverSegment(place, name, { keys })
    if (segment === null) emptyPaths.push(join(place.directory, segmentFileName(name)))
    else segments.push(segment)
    nextSeq = Math.max(nextSeq, name.seq, (segment?.last.seq ?? 0) + 1)
  }
  const origin = { begin: names[0]?.begin ?? Date.now(), opening: randomInt(2 ** 47) }
  const nextNumber = (names.at(-1)?.number ?? 0) + 1
  return { segments, emptyPaths, origin, nextNumber, nextSeq, keys }
}

// The buffer never makes two; a copy from a backup does. A program cannot know which of the two is right.
function refuseDoubleNumbers({ directory }: Place, names: readonly SegmentName[]): void {
  const twice = names.find((name, i) => name.number === names[i - 1]?.number)
  if (twice === undefined) return
  const path = join(directory, segmentFileName(twice))
  throw new EnvironmentError('buffer-inconsistent', `two files claim to be segment ${path}`, {
    hint: 'move the one that does not belong there out of the directory',
  })
}

/**
 * Brings one segment into order and seals it if it was open. null when it holds no valid group.
 *
 * `trustedBytes`: what lies beyond was rejected after a failed sync, so it is dropped, and as nothing more
 * that the kernel says about this file can be trusted, the rest moves to a new one. `keys` takes the keys it finds.
 */
export async function recoverSegment(
  place: Place,
  name: SegmentName,
  { trustedBytes, keys }: { readonly trustedBytes?: number; readonly keys?: FoundKey[] },
): Promise<Segment | null> {
  const { directory, files, logger } = place
  let path = join(directory, segmentFileName(name))
  const file = await files.open(path, 'r+')
  let scan: SegmentScan
  let changedAt: Date
  try {
    using content = await readAll(file)
    const bytes = content.bytes.subarray(0, trustedBytes)
    scan = scanSegment(bytes, name.state)
    changedAt = (await file.stat()).changedAt
    for (const { start, end } of scan.valid)
      // One by one: a call takes some 120,000 arguments, and a segment may have more keys.
      for (const key of keysIn(bytes.subarray(start, end))) keys?.push(key)
    if (scan.damaged.length > 0) await quarantine(place, name, bytes, scan)
    if (scan.damaged.some(hasBytes) || trustedBytes !== undefined) {
      await writeAtomically(place, path, (write) => {
        for (const { start, end } of scan.valid) write(bytes.subarray(start, end))
      })
    } else if (name.state === 'open') {
      if (scan.validEnd < bytes.length) {
        logger.warn('segment-tail-cut', { path, tailBytes: bytes.length - scan.validEnd })
        await file.truncate(scan.validEnd)
      }
      // A group whose writer was killed before its sync is whole as long as there is power, and counts from now on.
      await file.fsync()
    }
  } finally {
    await file.close()
  }
  const { events, first, last } = scan
  if (first === null || last === null) return null
  // It was about to be emptied (segment.ts).
  if (name.state === 'open' && last.seq < name.seq) return null
  if (name.state === 'open') {
    name = { ...name, state: 'sealed' }
    const sealedPath = join(directory, segmentFileName(name))
    await files.rename(path, sealedPath)
    path = sealedPath
  }
  await files.fsyncDirectory(directory)
  const sizeBytes = scan.valid.reduce((sum, { start, end }) => sum + end - start, 0)
  return { name, path, sizeBytes, events, first, last, changedAt }
}

const hasBytes = ({ start, end }: Range) => end > start

/** Copies damaged bytes to separate files before they leave the segment. */
async function quarantine(place: Place, name: SegmentName, bytes: Buffer, scan: SegmentScan) {
  for (const range of scan.damaged) {
    const damaged = bytes.subarray(range.start, range.end)
    const crc = crcDigits(crc32(damaged))
    const path = join(place.directory, `${name.number}-${crc}.damaged`)
    // Nothing of an empty file can be kept, and a full disk has no room for a copy of nothing.
    if (hasBytes(range)) await writeAtomically(place, path, (write) => write(damaged))
    const segment = segmentFileName(name)
    const kept = { ...(hasBytes(range) && { path }), keptEvents: scan.events }
    place.logger.error('segment-damaged', { segment, ...range, ...kept })
  }
}
