// On-disk format of the buffer, number 1. This file owns it: the layout of a line is documented
// and implemented here, for writers and readers.
//
// A target has a directory (target-directory.ts) and its events lie there in segments. A segment is a text file of lines
// that end in LF. DuckDB reads it in place as newline-delimited JSON with the columns LINE_COLUMNS; a marker line has
// none of them, so its `s` is null.
//
//   line    bytes                                         what
//   event   {"s":<seq>,"t":"<time>","e":<event>}          seq: decimal, ascending per target; in one group, by 1
//                                                         time: acceptance by the server, ISO 8601 in UTC; the first
//                                                         event of a request that has a key has ,"$key":"<key>" after
//                                                         it (request-key.ts)
//                                                         event: the JSON text as it was sent; each CR and LF, which
//                                                         JSON allows only between tokens, becomes a space
//                                                         ,"x":<texts> may follow it: an object of texts, with digits
//                                                         that DuckDB would lose (withExact)
//   marker  {"$commit":{"n":<n>,"len":<len>,"crc":<crc>}} n: event lines of the group, decimal, at least 1
//                                                         len: bytes of these lines, decimal
//                                                         crc: CRC-32 (zlib) of these bytes, decimal
//
// A group is what one sync brought to disk: n event lines and their marker. A call to append lies in one group, so it is
// there as a whole or not at all. A group is valid if and only if the marker is exactly as above and ends in LF, the len
// bytes before it do not reach into an earlier valid group, their CRC-32 is crc, and their first and last line carry
// numbers n - 1 apart. What follows the last valid group of an open segment is a torn tail: a write that was cut off
// before it was acknowledged, unless it ends in what differs from its marker in a byte or two. Every other segment was complete when it got its name: one or more valid groups
// and nothing else. What else is in it, or an empty one, is damage.
//
// The name of a segment file is the only record of its state:
//
//   <begin>-<number>-<seq>-<opening>.<state>      four decimal numbers of 16 digits
//
//   begin    number of the first segment that this directory ever had: its creation time in ms
//   number   identity of the segment, ascending, never used twice; a number may be skipped
//   seq      no event of an earlier segment has this sequence number or a higher one
//   opening  random, the same for all segments that were made between an opening of the buffer and its end: what the
//            warehouse knows of flushed segments it knows by it. A directory that was recreated, or restored to an
//            earlier state, reuses numbers, whatever the clock says; its new segments are still told apart.
//   state    open      appended to by the process that made it
//            sealed    complete, never handed out
//            claimed   handed out to a run
//            returned  handed out and given back
//
// The file with the highest number is never removed before a higher one is on disk, so the numbers that come next are
// known also when all events are gone; on a disk without room for a higher one it becomes open again with the next seq in
// its name, is then emptied, and then renamed to be the higher one. So an open segment whose events all have lower numbers
// than its seq counts as empty: they were acked.
// A claim that is no longer there, from begin up to the highest number, was acked.
// There may also be `<number>-<crc>.damaged` (bytes that were taken out of a segment, damaged.ts) and `*.tmp` (a copy that was not finished; removed at recovery).
//
// Constraints
//
//   - An event has at most limits.eventBytes (1 MiB) unless it is set otherwise, and never more than
//     limits.largestEventBytes (15 MiB). Its line has at most 96 bytes more, 72 more with a key, so that it stays below
//     the 16 MiB that DuckDB reads of one line (limits.segmentLineBytes).
//   - A group holds what arrives while the one before it is synced: at most limits.pendingBytes (64 MiB) over all targets,
//     or one call that is larger.
//   - A segment is sealed before a group would take it above limits.segmentBytes (64 MiB). Only a group that alone is
//     larger makes a larger one. Recovery reads a segment into memory whole.
//   - All segments of all targets have at most limits.bufferBytes (16 GiB) unless it is set otherwise; above it nothing is
//     accepted. At most one segment of a target is open.
//   - A segment lives until it is acked; there is not a time limit. Only the last file of a target stays for as long as its
//     directory.
//   - All numbers are below 2^53, which has 16 digits, and <opening> is below 2^47.
//   - A file of keys lives until its youngest key is 24 hours old, unless that is set otherwise (request-key.ts).

import { crc32 } from 'node:zlib'
import type { Column } from '../core/relation.ts'

export type SegmentState = 'open' | 'sealed' | 'claimed' | 'returned'

export interface SegmentName {
  readonly begin: number
  readonly number: number
  readonly seq: number
  readonly opening: number
  readonly state: SegmentState
}

const NAME = /^(\d{16})-(\d{16})-(\d{16})-(\d{16})\.(open|sealed|claimed|returned)$/

export function segmentFileName({ begin, number, seq, opening, state }: SegmentName): string {
  const digits = (value: number) => String(value).padStart(16, '0')
  return `${[begin, number, seq, opening].map(digits).join('-')}.${state}`
}

export function parseSegmentFileName(fileName: string): SegmentName | null {
  const [, begin, number, seq, opening, state] = NAME.exec(fileName) ?? []
  if (state === undefined) return null
  return {
    begin: Number(begin),
    number: Number(number),
    seq: Number(seq),
    opening: Number(opening),
    state: state as SegmentState,
  }
}

/** What each event line begins with, and no other line. */
export const LINE_START = '{"s":'

/** The members of an event line that are read as columns: seq, time, event, exact texts. */
export const LINE_COLUMNS = ['s', 't', 'e', 'x'] as const
export type LineColumn = (typeof LINE_COLUMNS)[number]

/**
 * Regular expression (RE2): its group 1 is the event of a line as it was sent; a reader of JSON would print numbers in its
 * own way. What follows the event is an object of texts: only there does a line end in its brace and one more, outside of
 * every text, without a brace between.
 */
export const EVENT_TEXT = String.raw`"e":(.*?)(?:,"x":\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?\}$`

/**
 * DuckDB prints each number of JSON as the nearest double. Where that would change one, the line of the event has
 * texts after it: by exactKey(), the whole value of the column as JSON text. A column that is JSON has the text of its
 * value there; in other types the text has each value of JSON as a string of its text.
 */
export function withExact(event: Uint8Array, texts: ReadonlyMap<string, string>): Uint8Array {
  const member = `,"x":${JSON.stringify(Object.fromEntries(texts))}`
  return Buffer.concat([event, Buffer.from(member)])
}

/** With the type, since the text means something else in a column of another one. */
export const exactKey = ({ name, type }: Pick<Column, 'name' | 'type'>): string => `${name} ${type}`

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const CLOSING_BRACE = 0x7d
const COMMA = 0x2c
const ZERO = 0x30
const NINE = 0x39
const LINE_MAX_BYTES_BESIDE_EVENT = 96
const KEY_MEMBER_MAX_BYTES = 72

/** Bytes that the lines of `events` take at most, with the marker of their group. */
export function linesMaxBytes(events: readonly Uint8Array[], hasKey = false): number {
  let sizeBytes = MARKER_LINE_MAX_BYTES + (hasKey ? KEY_MEMBER_MAX_BYTES : 0)
  for (const event of events) sizeBytes += event.length + LINE_MAX_BYTES_BESIDE_EVENT
  return sizeBytes
}

/**
 * Writes a line for each event, numbered from `firstSeq` on, and returns where they end. An event is JSON text, or the
 * result of withExact(). `time` is ISO 8601 in UTC. The first line gets the key, a text that needs no escapes.
 * closeLines() has to follow: where each line ends is written to `ends`, from `endsAt` on.
 */
export function writeLines(
  memory: Uint8Array,
  begin: number,
  events: readonly Uint8Array[],
  firstSeq: number,
  time: string,
  key: string | null = null,
  ends: number[] = [],
  endsAt = 0,
): number {
  let [at, seq, line] = [begin, firstSeq, endsAt]
  for (const event of events) {
    const start =
      key !== null && seq === firstSeq ? keyedStart(seq, time, key) : lineStart(seq, time)
    memory.set(start, at)
    memory.set(event, at + start.length)
    const end = at + start.length + event.length
    memory[end] = CLOSING_BRACE
    ends[line++] = end + 1
    at = end + 2
    seq += 1
  }
  return at
}

/** For all lines of a group at once: a search takes about as long for many short lines as for one. */
export function closeLines(lines: Buffer, ends: readonly number[], count: number): void {
  for (const lineEnd of [LF, CR])
    for (let at = lines.indexOf(lineEnd); at !== -1; at = lines.indexOf(lineEnd, at))
      lines[at] = SPACE
  for (let line = 0; line < count; line++) lines[ends[line]!] = LF
}

/** What a line has before its event. */
const textOfStart = (seq: number, time: string, member = '') =>
  Buffer.from(`${LINE_START}${seq},"t":${JSON.stringify(time)}${member},"e":`, 'latin1')

const keyedStart = (seq: number, time: string, key: string) =>
  textOfStart(seq, time, `,"$key":"${key}"`)

/** The start of the line before, without a key: most often the next one has the number after it, and the same time. */
const former = { seq: NaN, time: '', bytes: textOfStart(0, ''), lastDigit: 0 }

function lineStart(seq: number, time: string): Uint8Array {
  const isNext = seq === former.seq + 1 && time === former.time
  if (!(isNext ? countUp() : time === former.time && renumber(seq))) {
    former.bytes = textOfStart(seq, time)
    former.time = time
    former.lastDigit = former.bytes.indexOf(COMMA) - 1
  }
  former.seq = seq
  return former.bytes
}

/** false: the number needs one more digit. */
function countUp(): boolean {
  const { bytes, lastDigit } = former
  let at = lastDigit
  while (bytes[at] === NINE) bytes[at--] = ZERO
  if (at < LINE_START.length) return false
  bytes[at]! += 1
  return true
}

/** false: the number has not as many digits. */
function renumber(seq: number): boolean {
  const { bytes, lastDigit } = former
  let rest = seq
  for (let at = lastDigit; at >= LINE_START.length; at--) {
    const tens = Math.floor(rest / 10)
    bytes[at] = ZERO + rest - tens * 10
    rest = tens
  }
  return rest === 0 && bytes[LINE_START.length] !== ZERO
}

interface KeyedLine extends EventStamp {
  readonly key: string
}

const KEY_MEMBER = '","$key":"'
/** No line has its key further from its beginning. */
const BYTES_BEFORE_KEY = 64
const KEYED_START = /^\{"s":(\d+),"t":"([^"]*)","\$key":"([^"]*)","e":/

/** The lines with a key in valid groups, in their order. A member of that name inside an event does not count. */
export function* keyedLines(groups: Buffer): Generator<KeyedLine> {
  let at = groups.indexOf(KEY_MEMBER)
  for (; at !== -1; at = groups.indexOf(KEY_MEMBER, at + 1)) {
    const before = Math.max(0, at - BYTES_BEFORE_KEY)
    const lineFeed = groups.subarray(before, at).lastIndexOf('\n')
    if (lineFeed === -1 && before > 0) continue
    const start = before + lineFeed + 1
    const [, seq, time, key] = KEYED_START.exec(groups.toString('latin1', start, start + 200)) ?? []
    if (time !== undefined && key !== undefined) yield { seq: Number(seq), time, key }
  }
}

/** The marker of a group whose event lines are `lines`. */
export function markerLine(events: number, lines: Uint8Array): string {
  return `{"$commit":{"n":${events},"len":${lines.length},"crc":${crc32(lines)}}}\n`
}
export const MARKER_LINE_MAX_BYTES = 80

const MARKER_START = '\n{"$commit":{'
export const MARKER = /^\{"\$commit":\{"n":(\d+),"len":(\d+),"crc":(\d+)\}\}\n/
const EVENT_START = /^\{"s":(\d+),"t":"([^"]*)",/

export interface Range {
  readonly start: number
  readonly end: number
}

export interface SegmentScan {
  /** Runs of valid groups, ascending, not touching. */
  readonly valid: readonly Range[]
  /**
   * Bytes before, between and after valid groups where events may have been lost. Empty, at 0, for a segment that lost
   * all of its bytes.
   */
  readonly damaged: readonly Range[]
  /** First byte after the last valid group. */
  readonly validEnd: number
  readonly events: number
  /** First and last event; null without any. */
  readonly first: EventStamp | null
  readonly last: EventStamp | null
}

export interface EventStamp {
  readonly seq: number
  readonly time: string
}

/** Finds the valid groups of a segment, by the definition at the head of this file. */
export function scanSegment(bytes: Buffer, state: SegmentState): SegmentScan {
  const valid: Range[] = []
  let [validEnd, events] = [0, 0]
  let first: EventStamp | null = null
  let last: EventStamp | null = null
  for (let at = nextMarker(bytes, 0); at !== null; at = nextMarker(bytes, at)) {
    const group = readGroup(bytes, at, validEnd)
    if (group === null) continue
    const run = valid.at(-1)
    if (run?.end === group.start) valid[valid.length - 1] = { start: run.start, end: group.end }
    else valid.push({ start: group.start, end: group.end })
    validEnd = group.end
    events += group.events
    first ??= group.first
    last = group.last
  }
  return { valid, damaged: damagedRanges(bytes, valid, state), validEnd, events, first, last }
}

/** Bytes of MARKER_START that hardly ever follow one another elsewhere: a search for these two is thirty times as fast. */
const RARE = '$c'
const RARE_AT = MARKER_START.indexOf(RARE)

/**
 * Where the next marker line after `from` begins. A raw LF is only ever the end of a line, so the search meets marker lines
 * and nothing else, and skips the events.
 */
export function nextMarker(bytes: Buffer, from: number): number | null {
  let rare = from + RARE_AT
  while ((rare = bytes.indexOf(RARE, rare, 'latin1')) !== -1) {
    const at = rare - RARE_AT
    if (bytes.toString('latin1', at, at + MARKER_START.length) === MARKER_START) return at + 1
    rare += RARE.length
  }
  return null
}

function readGroup(bytes: Buffer, markerAt: number, earliestStart: number) {
  const match = MARKER.exec(bytes.toString('latin1', markerAt, markerAt + MARKER_LINE_MAX_BYTES))
  if (match === null) return null
  const [events, length, crc] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const start = markerAt - length
  if (length === 0 || start < earliestStart) return null
  const lines = bytes.subarray(start, markerAt)
  if (crc32(lines) !== crc) return null
  const first = readStamp(lines, 0)
  const last = readStamp(lines, lines.lastIndexOf('\n', -2) + 1)
  if (first === null || last === null || last.seq - first.seq !== events - 1) return null
  return { start, end: markerAt + match[0].length, events, first, last }
}

function readStamp(lines: Buffer, at: number): EventStamp | null {
  const match = EVENT_START.exec(lines.toString('latin1', at, at + 80))
  return match === null ? null : { seq: Number(match[1]), time: match[2] as string }
}

function damagedRanges(bytes: Buffer, valid: readonly Range[], state: SegmentState): Range[] {
  const damaged: Range[] = []
  let position = 0
  for (const { start, end } of valid) {
    if (start > position) damaged.push({ start: position, end: start })
    position = end
  }
  const isWhole = position === bytes.length && valid.length > 0
  // A write that was cut off has no marker yet.
  const hasMarker = nextMarker(bytes, position) !== null || hasChangedMarker(bytes, position)
  const tailIsDamaged = state === 'open' ? hasMarker : !isWhole
  if (tailIsDamaged) damaged.push({ start: position, end: bytes.length })
  return damaged
}

/** Bytes of a marker that may have changed on disk. */
const CHANGED_BYTES = 2
/** No event line ends so: its event has one brace more. */
const MARKER_AT_END = /\{"\$commit":\{"n":\d+,"len":\d+,"crc":\d+\}\}\n$/

/** The last group may have been whole, and only its marker, or the line feed before it, is another one now. */
function hasChangedMarker(bytes: Buffer, start: number): boolean {
  const markerAt = bytes.lastIndexOf('\n', -2) + 1
  if (MARKER_AT_END.test(bytes.toString('latin1', Math.max(start, bytes.length - 80)))) return true
  if (markerAt <= start) return false
  const lines = bytes.subarray(start, markerAt)
  let events = 0
  for (let at = lines.indexOf(LF); at !== -1; at = lines.indexOf(LF, at + 1)) events++
  const marker = Buffer.from(markerLine(events, lines), 'latin1')
  const found = bytes.subarray(markerAt)
  if (found.length !== marker.length) return false
  const changed = found.filter((byte, i) => byte !== marker[i])
  // Zeros are what a power cut leaves.
  return changed.length <= CHANGED_BYTES && !changed.includes(0)
}
