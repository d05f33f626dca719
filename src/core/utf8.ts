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
