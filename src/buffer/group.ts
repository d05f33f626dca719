// A group while it is being collected: the event lines in one growing piece of memory, and its outcome for the callers.

import { limits } from '../core/limits.ts'
import {
  closeLines,
  MARKER_LINE_MAX_BYTES,
  type EventStamp,
  linesMaxBytes,
  markerLine,
  writeLines,
} from './segment.ts'

export interface Group {
  /** Event lines so far; the memory that holds them is larger. */
  memory: Buffer
  sizeBytes: number
  /** Where each of them ends; of an earlier group may be more. */
  readonly ends: number[]
  events: number
  /** Calls to append whose events are in it. */
  calls: number
  first: EventStamp | null
  last: EventStamp | null
  /** Settles with the outcome for every call whose events are in the group. */
  readonly written: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** A group begins with this much; it grows by doubling. */
const SMALLEST_BYTES = 64 * 1024

export function emptyGroup(
  memory: Buffer = Buffer.allocUnsafe(SMALLEST_BYTES),
  ends: number[] = [],
): Group {
  let resolve = () => {}
  let reject: Group['reject'] = () => {}
  const written = new Promise<void>((...settle) => ([resolve, reject] = settle))
  return {
    memory,
    sizeBytes: 0,
    ends,
    events: 0,
    calls: 0,
    first: null,
    last: null,
    written,
    resolve,
    reject,
  }
}

/** An empty group that reuses the memory of a finished one, unless that is too large to keep, or was for that group. */
export function nextGroup({ memory, sizeBytes, ends }: Group): Group {
  const isFitting = memory.length === SMALLEST_BYTES || memory.length <= 8 * sizeBytes
  return isFitting && memory.length <= limits.retainedGroupBytes
    ? emptyGroup(memory, ends)
    : emptyGroup()
}

/** Adds one line for each event, numbered from `firstSeq` on. `time` is ISO 8601 in UTC; the first line gets the key. */
export function addEvents(
  group: Group,
  events: readonly Uint8Array[],
  firstSeq: number,
  time: string,
  key: string | null = null,
): void {
  const memory = reserve(group, linesMaxBytes(events, key !== null))
  const { sizeBytes, ends, events: before } = group
  group.sizeBytes = writeLines(memory, sizeBytes, events, firstSeq, time, key, ends, before)
  group.events += events.length
  group.calls += 1
  group.first ??= { seq: firstSeq, time }
  group.last = { seq: firstSeq + events.length - 1, time }
}

/** The bytes of the group with its marker. */
export function finishGroup(group: Group): Buffer {
  const lines = group.memory.subarray(0, group.sizeBytes)
  closeLines(lines, group.ends, group.events)
  const memory = reserve(group, MARKER_LINE_MAX_BYTES)
  const marker = memory.write(markerLine(group.events, lines), group.sizeBytes, 'latin1')
  return memory.subarray(0, group.sizeBytes + marker)
}

function reserve(group: Group, moreBytes: number): Buffer {
  const needed = group.sizeBytes + moreBytes
  if (needed > group.memory.length) {
    const grown = Buffer.allocUnsafe(Math.max(needed, 2 * group.memory.length))
    group.memory.copy(grown, 0, 0, group.sizeBytes)
    group.memory = grown
  }
  return group.memory
}
