// Files of a project that nobody meant: broken bytes, odd headers and bodies, tables that are no tables, and no files.

import { type Chance, type Change, odd, put, shown, words, written } from './change.ts'
import { FILES } from './project.ts'

const bodies = [
  ...words.bodies,
  `SELECT ${'1 + '.repeat(20_000)}1 AS id`,
  `SELECT ${Array.from({ length: 3_000 }, (_, i) => `${i} AS c${i}`).join(', ')}`,
  `SELECT '${'x'.repeat(500_000)}' AS id`,
  `SELECT 1 AS "${'x'.repeat(70_000)}"`,
  `SELECT 1 AS id ${'UNION ALL SELECT 1 '.repeat(2_000)}`,
]
const seeds = [
  ...words.seeds,
  `id,name\n0,${'x'.repeat(3_000_000)}\n`,
  `${Array.from({ length: 3_000 }, (_, i) => `c${i}`).join(',')}\n`,
]
const sqlFiles = Object.keys(FILES).filter((path) => path.endsWith('.sql'))
const folders =
  'models models/mart seeds seeds/ref macros checks data tests tests/core/words/one target'.split(
    ' ',
  )

const BYTES: Readonly<Record<string, (bytes: Buffer, chance: Chance) => string | Uint8Array>> = {
  'a BOM': (bytes) => Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), bytes]),
  'two BOMs': (bytes) => `\ufeff\ufeff${bytes.toString()}`,
  CRLF: (bytes) => bytes.toString().replaceAll('\n', '\r\n'),
  CR: (bytes) => bytes.toString().replaceAll('\n', '\r'),
  tabs: (bytes) => bytes.toString().replaceAll(/ {2}|, /g, '\t'),
  'UTF-16': (bytes) => Buffer.from(`\ufeff${bytes.toString()}`, 'utf16le'),
  'UTF-16 without a BOM': (bytes) => Buffer.from(bytes.toString(), 'utf16le'),
  'a NUL': (bytes, { below }) => {
    const at = below(bytes.length + 1)
    return Buffer.concat([bytes.subarray(0, at), Buffer.of(0), bytes.subarray(at)])
  },
  'no UTF-8': (bytes, { below, pick }) => {
    const at = below(bytes.length + 1)
    return Buffer.concat([
      bytes.subarray(0, at),
      Buffer.from(pick(['ff', 'c3', 'eda080', 'f0808080', 'e9', 'c080']), 'hex'),
      bytes.subarray(at),
    ])
  },
  'only a part': (bytes, { below }) => bytes.subarray(0, below(bytes.length)),
  nothing: () => '',
  blanks: () => ' \n\t\n  \r\n',
  'random bytes': (_, { below }) =>
    Buffer.from(Array.from({ length: 1 + below(3_000) }, () => below(256))),
  'a picture': () => Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  twice: (bytes) => Buffer.concat([bytes, bytes]),
  'a long line': (bytes) => `${bytes.toString()}${'x'.repeat(2_000_000)}\n`,
  'a conflict': (bytes) =>
    `<<<<<<< HEAD\n${bytes.toString()}=======\n${bytes.toString()}>>>>>>> other\n`,
  'a bracket without end': (bytes, { pick }) =>
    `${bytes.toString()}\n${pick(['(', '[', '{', '"', "'", '/*', '$$', '--'])}`,
  'deep brackets': (_, { pick }) =>
    pick(['(', '[', '{', '((SELECT ', '- ', 'NOT ', '-', '/*', 'CASE WHEN ', '1+']).repeat(30_000),
  'a line twice': (bytes, { pick }) => {
    const lines = bytes.toString().split('\n')
    const line = pick(lines)
    return bytes.toString().replace(line, () => `${line}\n${line}`)
  },
  'a line less': (bytes, { below }) =>
    bytes.toString().split('\n').toSpliced(below(5), 1).join('\n'),
  'lines in another order': (bytes, { below }) => {
    const lines = bytes.toString().split('\n')
    const [line = ''] = lines.splice(below(lines.length), 1)
    return lines.toSpliced(below(lines.length), 0, line).join('\n')
  },
  'an odd character': (bytes, { below, pick }) => {
    const text = bytes.toString()
    const at = below(text.length + 1)
    return (
      text.slice(0, at) +
      pick([
        '\u202e',
        '\u00a0',
        '\u2028',
        '\u0000',
        '\u0007',
        '\u200b',
        '\ud83e\udd86',
        '"',
        "'",
        '`',
        ':',
        ';',
        '${',
        '${nothing}',
        '*',
        '&',
        '%',
        '\\',
        '\n',
        '\t',
        '\u0085',
        '{{ x }}',
      ]) +
      text.slice(at + below(2))
    )
  },
}

/** A file of which the text is not what an editor writes. */
export function bytes(chance: Chance): Change {
  const path = chance.pick(Object.keys(FILES))
  const how = chance.pick(Object.keys(BYTES))
  return written(path, `has ${how}`, (before) => BYTES[how]!(before, chance))
}

export function dotEnv({ pick }: Chance): Change {
  const line = pick([...words.dotEnv, `A=${'x'.repeat(100_000)}`])
  return written('.env', shown(line), (before) => `${before.toString()}${line}\n`)
}

export function header({ pick, below }: Chance): Change {
  const path = pick(sqlFiles)
  const line = `-- @${pick(words.annotations)}${pick(words.annotationValues)}`
  const isFirst = below(2) === 0
  return written(
    path,
    `${isFirst ? 'begins with' : 'has as its first line'} ${shown(line)}`,
    (before) =>
      isFirst ? `${line}\n${before.toString()}` : before.toString().replace(/^.*/, () => line),
  )
}

export function body({ pick, below }: Chance): Change {
  const path = pick(sqlFiles)
  const text = pick(bodies)
  const hasHeader = below(2) === 0
  const linesOf = (before: Buffer) =>
    before
      .toString()
      .split('\n')
      .filter((line) => line.startsWith('--'))
  return written(path, `holds ${hasHeader ? 'its header and ' : ''}${shown(text)}`, (before) =>
    hasHeader ? [...linesOf(before), text, ''].join('\n') : text,
  )
}

export function seed({ pick, below }: Chance): Change {
  const isYml = below(3) === 0
  const path = isYml
    ? 'seeds/ref/names.yml'
    : pick([
        'seeds/ref/names.csv',
        'data/rates.csv',
        'tests/core/words/one/expect.csv',
        'tests/core/words/one/given/raw.orders.csv',
      ])
  const text = pick(isYml ? words.seedYml : seeds)
  return written(path, `holds ${shown(text)}`, () =>
    Buffer.from(text, text.includes('\xff') ? 'latin1' : 'utf8'),
  )
}

export function place({ pick, below }: Chance): Change {
  const path = pick(below(3) === 0 ? folders : Object.keys(FILES))
  const how = pick(Object.keys(odd))
  const apply = (dir: string) => {
    put(dir, path, how)
    return () => {}
  }
  return { what: `${path} is ${how}`, path, apply }
}

export function more({ pick }: Chance): Change {
  const path = pick(words.morePaths)
  const text = pick([
    'SELECT 1 AS id',
    'SELECT id FROM raw.orders',
    'id,name\n1,x\n',
    '{"id": 1}',
    '',
    'SELECT',
    'CREATE MACRO other(x) AS x',
    '[1, 2',
    '\0\x01',
    'id INTEGER',
    'x: *y',
  ])
  return written(path, `holds ${shown(text)}`, () => text)
}
