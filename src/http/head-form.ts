// Heads that differ in the values of a few headers alone, such as a trace, the key of a request or the length of its body. A
// client, or a proxy before it, sends such heads again and again: the bytes between these values are compared, and a
// value may be anything that a plain head has (plain-post.ts). So what has the form of a plain head is one too, with the
// exception of the length, which is for the caller to judge.

const CR = 0x0d
const LENGTH = 'content-length'

export interface HeadForm {
  /** The same for all heads of the form. */
  readonly key: string
  /** What stands before each value, and after the last one. */
  readonly fixed: readonly Buffer[]
  /** The names of the headers with these values, in lower case. */
  readonly names: readonly string[]
  /** Which of them is the length of the body; -1: none. */
  readonly lengthAt: number
}

/** `text` ends with the empty line. `changing`: names of headers, to which that of the length is added. */
export function formOf(text: string, changing: ReadonlySet<string>): HeadForm {
  const fixed: string[] = []
  const names: string[] = []
  let start = 0
  let at = text.indexOf('\r\n') + 2
  while (at < text.length - 2) {
    const end = text.indexOf('\r\n', at)
    const colon = text.indexOf(':', at)
    const name = colon < end ? text.slice(at, colon).toLowerCase() : ''
    if (name === LENGTH || changing.has(name)) {
      fixed.push(text.slice(start, colon + 1))
      names.push(name)
      start = end
    }
    at = end + 2
  }
  fixed.push(text.slice(start))
  return {
    key: fixed.join('\0'),
    fixed: fixed.map((part) => Buffer.from(part, 'latin1')),
    names,
    lengthAt: names.indexOf(LENGTH),
  }
}

/** Where the head at `at` ends if it has that form, of whose values `ends` gets the ends; -1 if it has not. */
export function endOfHead({ fixed }: HeadForm, bytes: Buffer, at: number, ends: number[]): number {
  let end = at
  for (const [i, part] of fixed.entries()) {
    const after = end + part.length
    if (after > bytes.length || bytes.compare(part, 0, part.length, end, after) !== 0) return -1
    end = after
    if (i === fixed.length - 1) break
    while (bytes[end]! >= 0x20 && bytes[end]! <= 0x7e) end++
    if (bytes[end] !== CR) return -1
    ends[i] = end
  }
  return end
}

/** Of the head at `at`, whose ends endOfHead() has found. */
export function valueOf(
  { fixed }: HeadForm,
  bytes: Buffer,
  at: number,
  ends: readonly number[],
  place: number,
): string {
  const start = (place === 0 ? at : ends[place - 1]!) + fixed[place]!.length
  return bytes.toString('latin1', start, ends[place]).trim()
}
