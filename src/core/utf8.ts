// Bytes that should be UTF-8.

/**
 * Where the first byte stands that is not UTF-8; the length where all are. A decoder puts U+FFFD there, which the text may
 * also have itself.
 */
export function firstInvalid(bytes: Buffer): number {
  const text = bytes.toString('utf8')
  let at = 0
  let from = 0
  for (;;) {
    const found = text.indexOf('\ufffd', from)
    if (found < 0) return bytes.length
    at += Buffer.byteLength(text.slice(from, found))
    if (bytes.toString('hex', at, at + 3) !== 'efbfbd') return at
    at += 3
    from = found + 1
  }
}

/** How many bytes at the end that may be the start of a character. */
export function incompleteTail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0
  }
  return 0
}
