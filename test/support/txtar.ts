// Several files in one text, in the manner of Go's txtar:
//
//   What the case is about, for whoever reads it. May be missing.
//   -- models/a/t.sql --
//   SELECT 1
//   -- models/a/latin.sql (escaped) --
//   SELECT 'caf\xe9'\
//   -- expected --
//   ...
//
// A line `-- name --` begins a file, which goes to the next such line and ends with a line break, unless it is empty.
// What cannot be written so is escaped, and says so in its line: `\xHH` is a byte, `\\` a backslash, and a backslash
// at the end of a line takes the line break away. So any bytes can be written, and a reader sees where they are odd.

export interface TextFile {
  readonly path: string
  readonly content: Buffer
}

interface Txtar {
  readonly comment: string
  readonly files: readonly TextFile[]
}

const HEAD = /^-- (\S.*?)( \(escaped\))? --$/

export function parseTxtar(text: string): Txtar {
  const comment: string[] = []
  const sections: { path: string; isEscaped: boolean; lines: string[] }[] = []
  for (const line of text.split('\n')) {
    const head = HEAD.exec(line)
    if (head === null) (sections.at(-1)?.lines ?? comment).push(line)
    else sections.push({ path: head[1]!, isEscaped: head[2] !== undefined, lines: [] })
  }
  if ((sections.at(-1)?.lines ?? comment).pop() !== '') throw new Error('no line break at the end')
  return {
    comment: comment.map((line) => line + '\n').join(''),
    files: sections.map(({ path, isEscaped, lines }) => {
      const content = lines.map((line) => line + '\n').join('')
      return { path, content: isEscaped ? unescape(content) : Buffer.from(content) }
    }),
  }
}

export const printTxtar = ({ comment, files }: Txtar): string =>
  comment + files.map(printFile).join('')

function printFile({ path, content }: TextFile): string {
  const text = content.toString()
  const isPlain =
    (text === '' || text.endsWith('\n')) &&
    Buffer.from(text).equals(content) &&
    // eslint-disable-next-line no-control-regex
    !/[\0-\x08\x0b-\x1f\x7f\ufeff]/.test(text) &&
    !text.split('\n').some((line) => HEAD.test(line))
  return isPlain ? `-- ${path} --\n${text}` : `-- ${path} (escaped) --\n${escape(content)}`
}

function escape(content: Buffer): string {
  let text = ''
  for (const [at, byte] of content.entries()) {
    const startsHead = byte === 0x2d && (at === 0 || content[at - 1] === 0x0a)
    const isPlain = byte === 0x0a || byte === 0x09 || (byte >= 0x20 && byte < 0x7f)
    if (byte === 0x5c) text += '\\\\'
    else if (isPlain && !startsHead) text += String.fromCharCode(byte)
    else text += `\\x${byte.toString(16).padStart(2, '0')}`
  }
  return text.endsWith('\n') || text === '' ? text : `${text}\\\n`
}

function unescape(text: string): Buffer {
  const parts = text.replace(/\\(x[0-9a-f]{2}|\\|\n|)/g, (escaped, what: string) => {
    if (what === '\n') return ''
    if (what === '\\') return '\\x5c'
    if (what === '') throw new Error(`a backslash that escapes nothing: ${text}`)
    return escaped
  })
  return Buffer.concat(
    parts
      .split(/(\\x..)/)
      .map((part, i) =>
        i % 2 === 1 ? Buffer.from(part.slice(2), 'hex') : Buffer.from(part, 'utf8'),
      ),
  )
}
