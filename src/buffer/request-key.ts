// Requests that carry a key of their sender, so that one that is sent again is stored once.
//
// On disk a key is a member of the first event line of its request (segment.ts), so it is there if and only if the events
// are. Before a segment is removed, its keys that are still young move to a file next to it, format number 1:
//
//   <number>.keys     number of the segment, 16 digits
//
//   line    bytes                                     what
//   key     {"$key":"<key>","t":"<time>"}             as in the event line; time: acceptance, ISO 8601 in UTC
//   marker  {"$commit":{"n":<n>,"len":<len>,"crc":<crc>}}   as that of a group, over all key lines
//
// The file is valid if and only if it is exactly n key lines and the marker. One that is not valid is reported and its
// keys count as forgotten. It is made whole by a rename and never changes; it goes when its youngest key is too old.
//
// A <key> is `<digest of the sender's key>.<digest of the body>.<events>`: digests are the first 132 bits of SHA-256 in
// base64url, 22 characters, so that a line has a known length and needs no escapes.

import { hash } from 'node:crypto'
import { keyedLines, markerLine } from './segment.ts'

export interface RequestKey {
  /** Digest of the text that the sender chose. */
  readonly key: string
  /** Digest of the body: the same key with another body is a mistake of the sender. */
  readonly body: string
}

export interface StoredKey extends RequestKey {
  readonly events: number
  /** Acceptance, ISO 8601 in UTC. */
  readonly time: string
}

const STORED_KEY = /^([\w-]{22})\.([\w-]{22})\.(\d{1,16})$/
const KEY_LINE = /^\{"\$key":"([^"]*)","t":"([^"]*)"\}$/
const KEYS_FILE = /^(\d{16})\.keys$/

export const requestKey = (key: string, body: Uint8Array): RequestKey => ({
  key: digest(key),
  body: digest(body),
})

/** The same of a key that is made of the body: `textOf` gives it for the digest of that. */
export function keyOfBody(body: Uint8Array, textOf: (digest: string) => string): RequestKey {
  const ofBody = digest(body)
  return { key: digest(textOf(ofBody)), body: ofBody }
}

const digest = (bytes: string | Uint8Array) => hash('sha256', bytes, 'base64url').slice(0, 22)

export const keysFileName = (segmentNumber: number) =>
  `${String(segmentNumber).padStart(16, '0')}.keys`

export const isKeysFileName = (name: string) => KEYS_FILE.test(name)

export const keyText = ({ key, body }: RequestKey, events: number) => `${key}.${body}.${events}`

/** null for a text that `keyText` does not produce. */
export function parseKeyText(text: string, time: string): StoredKey | null {
  const [, key, body, events] = STORED_KEY.exec(text) ?? []
  if (key === undefined || body === undefined) return null
  return { key, body, events: Number(events), time }
}

export function writeKeys(keys: readonly StoredKey[]): Buffer {
  const lines = keys.map((key) => `{"$key":"${keyText(key, key.events)}","t":"${key.time}"}\n`)
  const bytes = Buffer.from(lines.join(''), 'latin1')
  return Buffer.concat([bytes, Buffer.from(markerLine(keys.length, bytes), 'latin1')])
}

/** null when the file is not valid. */
export function readKeys(bytes: Buffer): readonly StoredKey[] | null {
  const end = bytes.lastIndexOf('\n', -2) + 1
  const lines = bytes.subarray(0, end)
  const texts = lines.toString('latin1').split('\n').slice(0, -1)
  if (bytes.toString('latin1', end) !== markerLine(texts.length, lines)) return null
  const keys = texts.map((text) => {
    const [, key, time] = KEY_LINE.exec(text) ?? []
    return key === undefined || time === undefined ? null : parseKeyText(key, time)
  })
  return keys.every((key) => key !== null) ? keys : null
}

/** A key that was found in a segment, with the sequence number of the event that carries it. */
export interface FoundKey extends StoredKey {
  readonly seq: number
}

/** The keys in valid groups, in their order. */
export function keysIn(groups: Buffer): readonly FoundKey[] {
  const keys: FoundKey[] = []
  for (const { key: text, time, seq } of keyedLines(groups)) {
    const key = parseKeyText(text, time)
    if (key !== null) keys.push({ ...key, seq })
  }
  return keys
}
