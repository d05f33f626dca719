// How CSV files are read that are not written as DuckDB expects: settings of sources and seeds, and what is refused until it
// is said.

import { mkdir, rm, symlink } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const german = 'tag;betrag;menge;plz\n01.02.2026;1.234,56;NA;00150\n05.02.2026;2,50;3;01234\n'

const project = (table: string) => `name: t\nsources:\n  s:\n    tables:\n      a: ${table}\n`
const model = { 'models/core/a.sql': 'SELECT * FROM s.a\n' }

test('a source is read by its settings, and again when they change', async () => {
  const settings = (nulls: string) =>
    project(`
        file: data/a.csv
        columns: {plz: VARCHAR, betrag: "DECIMAL(10,2)"}
        csv: {decimal: ",", thousands: ".", nulls: ${nulls}, date_format: "%d.%m.%Y"}`)
  await using space = await workspace({
    ...model,
    'eider.yml': settings('NA'),
    'data/a.csv': german,
  })
  await space.ok(['run'])
  const rows = async () => (await space.ok(['query', 'core.a', '--format', 'csv'])).stdout
  assert.is(
    await rows(),
    'tag,betrag,menge,plz\r\n2026-02-01,1234.56,,00150\r\n2026-02-05,2.50,3,01234\r\n',
  )
  await space.write('eider.yml', settings('[NA, "3"]'))
  await space.ok(['run'])
  assert.match(await rows(), /2026-02-05,2\.50,,01234/)
  assert.match((await space.ok(['run'])).stdout, /1 unchanged/)
})

test('delimiter, quote, header and encoding', async () => {
  await using space = await workspace({
    ...model,
    'eider.yml': project(`
        file: data/a.csv
        csv: {delimiter: "~", quote: "'", header: false, encoding: Latin1}`),
  })
  await space.write('data/a.csv', Buffer.from(`'M\u00fcl~ler'~1\n'x'~2\n`, 'latin1'))
  await space.ok(['run'])
  const { stdout } = await space.ok(['query', 'core.a', '--format', 'csv'])
  assert.is(stdout, 'column0,column1\r\nMül~ler,1\r\nx,2\r\n')
})

test('a .tsv is split at tabs, also where its rows have as many commas each', async () => {
  await using space = await workspace({
    ...model,
    'eider.yml': project('{file: data/a.tsv}'),
    'data/a.tsv': 'name\nA, B\nC, D\n',
  })
  await space.ok(['run'])
  const { stdout } = await space.ok(['query', 'core.a', '--format', 'csv'])
  assert.is(stdout, 'name\r\n"A, B"\r\n"C, D"\r\n')
})

test('a file that is not UTF-8 is told how to say so', async () => {
  await using space = await workspace({ ...model, 'eider.yml': project('{file: data/a.csv}') })
  await space.write('data/a.csv', Buffer.from('name,n\nM\u00fcller,1\n', 'latin1'))
  const { stdout } = await space.ok(['check'], { exitCode: 1 })
  assert.match(stdout, /"s\.a" cannot be read: data\/a\.csv is not UTF-8\n/)
  assert.match(stdout, /hint: say how it is written, such as "csv: \{encoding: latin-1\}"/)
})

const rows = 'id,name\n1,M\u00fcller\n2,\u4e00\n'
const little = Buffer.from(rows, 'utf16le')
const big = Buffer.from(little).swap16()

for (const [what, bytes, encoding, problem] of [
  ['UTF-8', Buffer.from(rows), 'utf-16', 'is not UTF-16'],
  ['big-endian', big, 'utf-16', 'is big-endian UTF-16, which cannot be read'],
  [
    'big-endian with a mark',
    Buffer.concat([Buffer.of(0xfe, 0xff), big]),
    'utf-16',
    'is big-endian UTF-16, which cannot be read',
  ],
  ['big-endian', big, 'utf-8', 'is big-endian UTF-16, which cannot be read'],
  ['little-endian', little, 'utf-8', 'is UTF-16'],
  ['little-endian', little, 'utf-16', null],
  ['little-endian with a mark', Buffer.concat([Buffer.of(0xff, 0xfe), little]), 'utf-16', null],
] as const)
  test(`a file that is ${what} is read as ${encoding}`, async () => {
    await using space = await workspace({
      ...model,
      'eider.yml': project(`{file: data/*.csv, csv: {encoding: ${encoding}}}`),
    })
    await space.write('data/a.csv', bytes)
    if (problem === null) {
      await space.ok(['run'])
      const { stdout } = await space.ok(['query', 'core.a', '--format', 'csv'])
      assert.is(stdout, rows.replaceAll('\n', '\r\n'))
    } else {
      const { stdout } = await space.ok(['check'], { exitCode: 1 })
      assert.ok(stdout.includes(`"s.a" cannot be read: data/a.csv ${problem}\n`), stdout)
    }
  })

for (const empty of ['a', 'z'])
  test(`an empty file of a pattern is named: ${empty}.csv`, async () => {
    const settings = (csv: string) => project(`{file: data/*.csv, csv: {${csv}}}`)
    await using space = await workspace({
      ...model,
      'eider.yml': project('{file: data/*.csv}'),
      [`data/${empty}.csv`]: '',
      'data/m.csv': 'id,a\n1,2\n',
    })
    for (const csv of ['quote: "\'"', 'union_by_name: true', 'delimiter: ","']) {
      await space.write('eider.yml', settings(csv))
      const { stdout } = await space.ok(['check'], { exitCode: 1 })
      assert.match(stdout, new RegExp(`"s\\.a" cannot be read: data/${empty}\\.csv is empty\n`))
    }
    await space.write('eider.yml', settings('header: false'))
    await space.ok(['run'])
  })

test('a pattern behind a link to itself names the link', async () => {
  await using space = await workspace({ ...model, 'eider.yml': project('{file: data/x/*.csv}') })
  await mkdir(space.path('data'))
  await symlink('x', space.path('data/x'))
  const { stdout } = await space.ok(['check'], { exitCode: 1 })
  assert.match(stdout, /"s\.a" cannot be read: data\/x is a symbolic link to itself\n/)
})

test('dates that can be read both ways are refused until it is said which', async () => {
  const both = 'd,n\n01/01/2026,1\n01/02/2026,2\n'
  await using space = await workspace({
    ...model,
    'eider.yml': project('{file: data/a.csv}'),
    'data/a.csv': both,
    'seeds/ref/x.csv': both,
  })
  const { stdout } = await space.ok(['check'], { exitCode: 1 })
  assert.match(
    stdout,
    /"s\.a" cannot be read: the column "d" has dates that can be read both ways: 01\/02\/2026 is 1 February or 2 January\n/,
  )
  assert.match(stdout, /date_format: "%d\/%m\/%Y" has the day first, "%m\/%d\/%Y" the month/)
  assert.match(stdout, /seeds\/ref\/x\.csv:1:1 error seed-row: the column "d" has dates/)
  assert.match(stdout, /hint: seeds\/ref\/x\.yml: say which, under csv: date_format/)
  const format = '{date_format: "%m/%d/%Y"}'
  await space.write('eider.yml', project(`{file: data/a.csv, csv: ${format}}`))
  await space.write('seeds/ref/x.yml', `csv: ${format}\n`)
  await space.ok(['run'])
  const days = async () =>
    (await space.ok(['query', 'FROM core.a UNION ALL FROM ref.x', '--format', 'csv'])).stdout
  const first = 'd,n\r\n2026-01-01,1\r\n2026-01-02,2\r\n2026-01-01,1\r\n2026-01-02,2\r\n'
  assert.is(await days(), first)
  // The row on which the others would have changed.
  await space.write('data/a.csv', `${both}01/13/2026,3\n`)
  await space.ok(['run'])
  assert.match(await days(), /^d,n\r\n2026-01-01,1\r\n2026-01-02,2\r\n2026-01-13,3\r\n/)
})

test('dates that cannot be read both ways are not asked about', async () => {
  await using space = await workspace({
    ...model,
    'eider.yml': project('{file: data/a.csv}'),
    'data/a.csv':
      'd,e,f,t\n13/01/2026,2026-01-02,01/01/2026,01/02\n01/02/2026,2026-01-03,02/02/2026,03/04\n',
  })
  await space.ok(['check'])
})

test('a file of a pattern with other columns is named, with the column', async () => {
  const files = { 'data/f-1.csv': 'id,a\n1,2\n', 'data/f-2.csv': 'b,id,a\n9,1,2\n' }
  await using space = await workspace({
    ...model,
    ...files,
    'eider.yml': project('{file: data/f-*.csv}'),
  })
  const more = await space.ok(['check'], { exitCode: 1 })
  assert.match(
    more.stdout,
    /cannot be read: data\/f-2\.csv has a column "b", which data\/f-1\.csv does not have\n/,
  )
  assert.match(more.stdout, /hint: give all files the same columns, or write "csv: \{union_by_name/)
  await space.write('data/f-2.csv', 'id\n9\n')
  const fewer = await space.ok(['check'], { exitCode: 1 })
  assert.match(fewer.stdout, /data\/f-2\.csv has no column "a", which data\/f-1\.csv has\n/)
  await space.write('eider.yml', project('{file: data/f-*.csv, csv: {union_by_name: true}}'))
  await space.ok(['run'])
  const { stdout } = await space.ok(['query', 'core.a', '--format', 'csv'])
  assert.is(stdout, 'id,a\r\n1,2\r\n9,\r\n')
  await space.write('data/f-2.csv', 'a,id\n2,9\n')
  await space.write('eider.yml', project('{file: data/f-*.csv}'))
  await space.ok(['check'])
})

test('files in another order by which a column would have another type are refused', async () => {
  const source = (more: string) => project(`{file: data/f-*.csv, columns: {d: DATE}${more}}`)
  await using space = await workspace({
    'models/core/a.sql': "SELECT d, id, d - DATE '2026-01-01' AS days FROM s.a\n",
    'data/f-1.csv': 'id,d\n1,2026-01-31\n',
    'data/f-2.csv': 'd,id\n2026-02-28,2\n',
    'eider.yml': source(''),
  })
  const { stdout } = await space.ok(['check'], { exitCode: 1 })
  assert.match(
    stdout,
    /cannot be read: data\/f-2\.csv has its columns in another order than data\/f-1\.csv, so "(?:id|d)" would be VARCHAR instead of (?:BIGINT|DATE)\n(?:.*\n)*? *hint: give all files the same order, or write "csv: \{union_by_name: true\}"/,
  )
  await space.write('eider.yml', source(', csv: {union_by_name: true}'))
  await space.ok(['run'])
  const rows = await space.ok(['query', 'core.a', '--format', 'csv'])
  assert.is(rows.stdout, 'd,id,days\r\n2026-01-31,1,30\r\n2026-02-28,2,58\r\n')
})

test('a column of numbers that is text because of a dash is warned of, with what to write', async () => {
  await using space = await workspace({
    ...model,
    'eider.yml': project('{file: data/*.csv}'),
    'data/a.csv': 'id,n\n1,5\n2,-\n3,7\n',
  })
  const one = await space.ok(['check'])
  assert.match(
    one.stdout,
    /warning numbers-as-text: data\/a\.csv: the column "n" is text because of "-" in 1 of 3 rows, first in row 2; all its other values are numbers\n(?:.*\n)*? +hint: write at the table csv: \{nulls: \['-'\]\}, so that/,
  )
  await space.write('data/b.csv', 'id,n\n4,5\n5,n/a\n')
  const two = await space.ok(['check'])
  assert.match(two.stdout, /data\/a\.csv: .* because of "-", "n\/a" in 2 of 5 rows; all/)
  await space.write('eider.yml', project("{file: data/*.csv, csv: {nulls: ['-', 'n/a']}}"))
  assert.not.match((await space.ok(['check'])).stdout, /numbers-as-text/)
  await space.ok(['run'])
  const sum = await space.ok(['query', 'SELECT sum(n) AS n FROM core.a', '--format', 'csv'])
  assert.is(sum.stdout, 'n\r\n17\r\n')
})

test('a dash with blanks around it is named with them, as nulls have to be', async () => {
  await using space = await workspace({
    ...model,
    'eider.yml': project('{file: data/a.csv}'),
    'data/a.csv': 'id,n\n1,5\n2, -  \n3,7\n4,-\n5,\n6,9\n',
  })
  const { stdout } = await space.ok(['check'])
  assert.match(stdout, `because of " -  ", "-" in 2 of 6 rows, first in row 2`)
  const nulls = /csv: (\{nulls: .*?\})/.exec(stdout)![1]!
  assert.is(nulls, "{nulls: [' -  ', '-']}")
  await space.write('eider.yml', project(`{file: data/a.csv, csv: ${nulls}}`))
  assert.not.match((await space.ok(['check'])).stdout, /numbers-as-text/)
  await space.ok(['run'])
  const sum = await space.ok(['query', 'SELECT sum(n) AS n FROM core.a', '--format', 'csv'])
  assert.is(sum.stdout, 'n\r\n21\r\n')
})

test('a value that a later file of a pattern has is placed in that file', async () => {
  const many = Array.from({ length: 30_000 }, (_, i) => `${i},${i}`).join('\n')
  await using space = await workspace({
    ...model,
    'eider.yml': project('{file: data/h-*.csv}'),
    'data/h-1.csv': `id,n\n${many}\n`,
    'data/h-2.csv': `id,n\n${many}\n9,n/a\n`,
  })
  const { stdout } = await space.ok(['run'], { exitCode: 1 })
  assert.match(stdout, /h-2\.csv, line 30002: Error when converting column "n"/)
})

const mistakes: readonly (readonly [table: string, problem: RegExp])[] = [
  ['{file: a.csv, csv: {decimal: ";"}}', /csv\.decimal" must be "," or "\."/],
  ['{file: a.csv, csv: {decimal: ",", thousands: ","}}', /another character than ","/],
  ['{file: a.csv, csv: {delimiter: "||"}}', /csv\.delimiter" must be one character/],
  ['{file: a.csv, csv: {header: maybe}}', /csv\.header" must be true or false/],
  ['{file: a.csv, csv: {date_format: DD/MM/YYYY}}', /hint: write "%d\/%m\/%Y"/],
  [
    '{file: a.csv, csv: {encoding: cp1252}}',
    /csv\.encoding" must be one of utf-8, utf-16, latin-1/,
  ],
  ['{file: a.csv, csv: {delimeter: ";"}}', /did you mean "delimiter"/],
  ['{file: a.csv, csv: semicolon}', /csv" must be a group of nulls, /],
  ['{file: a.parquet, csv: {header: true}}', /left out: the file is not a CSV/],
  ['{file: a.parquet, columns: {a: DATE}}', /neither on a server nor a CSV file/],
  ['{file: a.csv, columns: {a: "INTEGER; x"}}', /columns\.a" must be a type, such as INTEGER/],
]

for (const [table, problem] of mistakes)
  test(`a mistake in settings has its place: ${table}`, async () => {
    await using space = await workspace({ ...model, 'eider.yml': project(table) })
    const { stdout } = await space.ok(['check'], { exitCode: 1 })
    assert.match(stdout, problem)
    assert.match(stdout, /eider\.yml:5:\d+ error/)
  })

const separators = '{decimal: ",", thousands: "."}'

for (const [value, read] of [
  ['12.50', '1250'],
  ['1.5', '15'],
  ['12.34.5,25', '12345,25'],
  ['.500', '500'],
  ['1234.567', '1234567'],
  ['-1.234,567.8', '-1234,5678'],
] as const)
  test(`a sign of thousands that stands elsewhere is refused: ${value}`, async () => {
    const text = `k;n\n1;1.234,56\n2;${value}\n`
    await using space = await workspace({
      ...model,
      'eider.yml': project(`{file: data/*.csv, csv: ${separators}}`),
      'data/a.csv': 'k;n\n1;-1.234.567,8\n2;999\n3;\n4;1,5\n',
      'data/b.csv': text,
      'seeds/ref/x.csv': text,
      'seeds/ref/x.yml': `csv: ${separators}\n`,
    })
    const problem = `the column "n" has ${value}, in which "." does not part groups of three digits, so it would be ${read}\n`
    const { stdout } = await space.ok(['check'], { exitCode: 1 })
    assert.ok(stdout.includes(`"s.a" cannot be read: data/b.csv: ${problem}`), stdout)
    assert.ok(stdout.includes(`seeds/ref/x.csv:1:1 error seed-row: ${problem}`), stdout)
    assert.match(stdout, /hint: write the value with groups of three digits, or leave out "thou/)
    await space.write(
      'eider.yml',
      project(`{file: data/*.csv, columns: {n: "DECIMAL(10,2)"}, csv: ${separators}}`),
    )
    const declared = await space.ok(['check'], { exitCode: 1 })
    assert.ok(declared.stdout.includes(`data/b.csv: ${problem}`), declared.stdout)
    await space.write(
      'eider.yml',
      project(`{file: data/*.csv, columns: {n: VARCHAR}, csv: ${separators}}`),
    )
    await rm(space.path('seeds/ref'), { recursive: true })
    await space.ok(['check'])
  })

test('the settings of a seed that its header decides are not there', async () => {
  await using space = await workspace({
    'eider.yml': 'name: t\n',
    'seeds/ref/x.csv': 'd;v\n01.02.2026;1,5\n13.02.2026;-\n',
    'seeds/ref/x.yml': 'csv: {decimal: ",", nulls: "-", date_format: "%d.%m.%Y", delimiter: ";"}\n',
  })
  const { stdout } = await space.ok(['check'], { exitCode: 1 })
  assert.match(
    stdout,
    /x\.yml:1:\d+ error config-invalid-value: "csv" must be a group of nulls, decimal/,
  )
  await space.write('seeds/ref/x.yml', 'csv: {decimal: ",", nulls: "-", date_format: "%d.%m.%Y"}\n')
  await space.ok(['run'])
  const rows = await space.ok(['query', 'ref.x', '--format', 'csv'])
  assert.is(rows.stdout, 'd,v\r\n2026-02-01,1.5\r\n2026-02-13,\r\n')
})

test.run()
