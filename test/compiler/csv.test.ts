import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { scanCsv } from '../../src/compiler/csv/scan.ts'
import { seedQuery } from '../../src/compiler/seed.ts'
import { Database } from '../../src/duckdb/database.ts'
import { DatabaseError } from '../../src/duckdb/errors.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { openProject } from '../support/pipeline-project.ts'
import { limits } from '../../src/core/limits.ts'

const SEED = 20261122

type Random = () => number
const below = (random: Random, n: number) => Math.floor(random() * n)
const oneOf = <T>(random: Random, items: readonly T[]): T => items[below(random, items.length)]!

function value(random: Random, delimiter: string): string {
  const plain = ['', '1', 'x', 'é日', '5" pipe', ' y ', '1.5', '#', "'"]
  const quoted = ['""', `"a${delimiter}b"`, '"say ""hi"""', '"l1\nl2"', '"x" ', ' "y"']
  return oneOf(random, [...plain, ...quoted])
}

/** Text with the rows that it has, or with one row that has other fields than the header. */
function randomCsv(random: Random, isWrong: boolean) {
  const delimiter = oneOf(random, [',', ';', '\t', '|'])
  const newline = oneOf(random, ['\n', '\r\n'])
  const columns = 2 + below(random, 3)
  const row = (n: number) => Array.from({ length: n }, () => value(random, delimiter))
  const header = Array.from({ length: columns }, (_, i) => `c${i}`)
  const rows = Array.from({ length: 1 + below(random, 8) }, () => row(columns))
  const wrong = oneOf(random, [-1, 1])
  if (isWrong) rows[below(random, rows.length)] = row(columns + wrong).map((_, i) => `w${i}`)
  const lines = [header, ...rows].map((fields) => fields.join(delimiter))
  return {
    text: lines.join(newline) + oneOf(random, ['', newline]),
    rows: rows.length,
    columns,
    delimiter,
  }
}

test('what is taken for well formed the engine reads as so many rows and columns, and no wrong row is taken', async () => {
  await using space = await openProject()
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const random = seededRandom(SEED)
  let read = 0
  for (let i = 0; i < 300; i++) {
    const isWrong = i % 3 === 0
    const { text, rows, columns, delimiter } = randomCsv(random, isWrong)
    const path = space.path('a.csv')
    await writeFile(path, text)
    const { shape, fault } = await scanCsv(path, null)
    const shown = JSON.stringify(text)
    if (isWrong) {
      assert.is(fault?.is, 'fields', shown)
      continue
    }
    assert.is(fault, null, shown)
    assert.is(shape?.delimiter, delimiter, shown)
    assert.is(shape?.columns.length, columns, shown)
    const seed = {
      format: 'csv',
      source: { path: 'a.csv', text: '' },
      types: [],
      delimiter,
    } as const
    try {
      const found = await connection.rows(seedQuery(seed, space.dir))
      assert.is(found.length, rows, shown)
      assert.is(Object.keys(found[0]!).length, columns, shown)
      read++
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error // it may refuse a row, but not lose one
    }
  }
  assert.ok(read > 150, `${read} files were read`)
})

test('a mistake has its line and its bytes wherever the chunks of the file end', async () => {
  await using space = await openProject()
  const path = space.path('a.csv')
  const row = 'é,"x\ny"\n'
  const rows = Math.ceil((2 * limits.csvChunkBytes) / Buffer.byteLength(row))
  for (const shift of [0, 1, 2, 3]) {
    const head = 'a'.repeat(shift) + 'b,c\n'
    await writeFile(path, head + row.repeat(rows) + '1,2,3\n')
    const at = Buffer.byteLength(head) + rows * Buffer.byteLength(row)
    const { fault } = await scanCsv(path, null)
    assert.equal(fault, { is: 'fields', at: at + 4, line: 2 + 2 * rows, lineStart: at, fields: 3 })
  }
})

for (const [name, text, expected] of [
  ['an empty file', '', 'blank-header'],
  ['a byte order mark alone', '\ufeff', 'blank-header'],
  ['a header alone', 'a,b', null],
  ['a byte order mark', '\ufeffa,b\n1,2\n', null],
  ['blank lines', 'a,b\n\n1,2\n\n', null],
  ['a replacement character', 'a,b\n1,\ufffd\n', null],
  ['an open quote in the header', 'a,"b\n1,2\n', 'open-quote'],
  ['a quote that is open at the end', 'a,b\n1,"', 'open-quote'],
  ['half a line end', 'a,b\r\n1,2\r', 'newline'],
  ['a CR in a value', 'a,b\nx\ry,1\n', 'newline'],
  ['a row of blanks', 'a,b\n  \n', 'fields'],
  ['half a character at the end', Buffer.from('a,b\n1,\u00e9').subarray(0, -1), 'not-utf-8'],
  [
    'a wrong byte after a right replacement character',
    Buffer.from('612c620aefbfbd2cff0a', 'hex'),
    'not-utf-8',
  ],
] as const)
  test(`${name} is ${expected ?? 'no mistake'}`, async () => {
    await using space = await openProject()
    await writeFile(join(space.dir, 'a.csv'), text)
    assert.is((await scanCsv(space.path('a.csv'), null)).fault?.is ?? null, expected)
  })

for (const [text, delimiter, fault] of [
  ['a,b;c\n1;2,5\n3;4\n', ';', undefined],
  ['a,b;c\n1,2;5\n3,4\n', ',', undefined],
  ['a,b;c\n1,2;5\n', ',', 'tie'],
  ['a,b;c\n1,2;5', ',', 'tie'],
  ['a,b;c\n"1;5",2\n', ',', undefined],
  ['a,b;c\n', ',', undefined],
] as const)
  test(`where two signs split a header alike the rows tell which is meant: ${JSON.stringify(text)}`, async () => {
    await using space = await openProject()
    await writeFile(space.path('a.csv'), text)
    const found = await scanCsv(space.path('a.csv'), null)
    assert.is(found.fault?.is, fault)
    assert.is(found.shape?.delimiter, delimiter)
  })

test.run()
