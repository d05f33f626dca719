// Values of CSV and JSON files that DuckDB would read as others by the types of the first rows.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const project = (table: string) => `name: t\nsources:\n  s:\n    tables:\n      a: ${table}\n`
const model = { 'models/core/a.sql': 'SELECT * FROM s.a\n' }

test('a column of only NO, F or T is text in sources and seeds, unless a type or another word says otherwise', async () => {
  const rows =
    'id,country,lang,sex,way,ok,is_in,pg\n1,NO,no,F,T,yes,T,t\n2,NO,No,F,T,no,F,t\n3,,,,,,,\n'
  await using space = await workspace({
    ...model,
    'eider.yml': project('{file: data/a.csv}'),
    'data/a.csv': rows,
    'seeds/ref/x.csv': rows,
  })
  await space.ok(['run'])
  const read = async (table: string) =>
    (await space.ok(['query', `FROM ${table} ORDER BY id`, '--format', 'csv'])).stdout
  const words = [
    'id,country,lang,sex,way,ok,is_in,pg',
    '1,NO,no,F,T,true,true,true',
    '2,NO,No,F,T,false,false,true',
    '3,,,,,,,',
    '',
  ].join('\r\n')
  assert.is(await read('core.a'), words)
  assert.is(await read('ref.x'), words)
  assert.match((await space.ok(['run'])).stdout, /2 unchanged/)

  const type = 'columns: {country: BOOLEAN}'
  await space.write('eider.yml', project(`{file: data/a.csv, ${type}}`))
  await space.write('seeds/ref/x.yml', `${type}\n`)
  await space.ok(['run'])
  assert.match(await read('core.a'), /\n1,false,no,F/)
  assert.match(await read('ref.x'), /\n1,false,no,F/)
})

test('a column of NO stays text when Sweden comes, also in the files of a pattern', async () => {
  await using space = await workspace({
    ...model,
    'eider.yml': project('{file: data/*.csv}'),
    'data/a.csv': `c\n${'NO\n'.repeat(30_000)}`,
  })
  const countries = async () => {
    await space.ok(['run'])
    const query = 'SELECT c, count(*) AS n FROM core.a GROUP BY ALL ORDER BY ALL'
    return (await space.ok(['query', query, '--format', 'csv'])).stdout
  }
  assert.is(await countries(), 'c,n\r\nNO,30000\r\n')
  await space.write('data/b.csv', 'c\nSE\n')
  assert.is(await countries(), 'c,n\r\nNO,30000\r\nSE,1\r\n')
})

test('a value behind the rows that a compile looks at fails what reads it, and is read by a declared type', async () => {
  const rows = (last: string) => `id,amount\n${'1,12\n'.repeat(500_000)}${last}\n`
  await using space = await workspace({
    ...model,
    'models/core/b.sql': 'SELECT 1 AS x\n',
    'eider.yml': project('{file: data/*.csv}'),
    'data/a.csv': rows('2,13'),
    'data/b.csv': 'id,amount\n3,12.75\n',
  })
  await space.ok(['check'])
  const { stdout } = await space.ok(['run'], { exitCode: 1 })
  assert.match(
    stdout,
    /failed +core\.a +eider\.yml:5:7: the source "s\.a" cannot be read: data\/b\.csv: the column "amount" has 12\.75, which would be rounded: its first rows have whole numbers; declare its type under columns of the table: amount: DOUBLE\n/,
  )
  assert.match(stdout, /built +core\.b/)
  await space.write('eider.yml', project('{file: data/*.csv, columns: {amount: "DECIMAL(9,2)"}}'))
  await space.ok(['run'])
  const sum = 'SELECT sum(amount) AS s, count(*) AS n FROM core.a'
  const found = await space.ok(['query', sum, '--format', 'csv'])
  assert.is(found.stdout, 's,n\r\n6000025.75,500002\r\n')
})

test('times without a zone are refused next to the name of one, which DuckDB would give to them', async () => {
  await using space = await workspace({ ...model, 'eider.yml': project('{file: data/a.csv}') })
  const write = async (values: readonly string[]) => {
    const rows = `id,t\n${values.map((value, i) => `${i},${value}\n`).join('')}`
    await space.write('data/a.csv', rows)
    await space.write('seeds/ref/x.csv', rows)
  }
  const named = '2026-06-01 12:00:00 America/New_York'
  const problem =
    /the column "t" has 2026-06-01 12:00:00 America\/New_York, whose zone would also be that of later values without one, such as 2026-06-01 12:00:00/
  for (const columns of ['', ', columns: {t: TIMESTAMPTZ}']) {
    await write([named, '2026-06-01 12:00:00'])
    await space.write('eider.yml', project(`{file: data/a.csv${columns}}`))
    await space.write('seeds/ref/x.yml', columns === '' ? '' : 'columns: {t: TIMESTAMPTZ}\n')
    const { stdout, stderr } = await space.ok(['check'], { exitCode: 1 })
    const said = (stdout + stderr).split('\n').filter((line) => problem.test(line))
    assert.is(said.length, 2, stdout + stderr)
    for (const kept of [
      [named, '2026-06-01 12:00:00Z', '2026-06-01 12:00:00+02'],
      ['2026-06-01 12:00:00 UTC', '2026-06-01T12:00:00', '2026-06-01 12:00:00+02'],
    ]) {
      await write(kept)
      await space.ok(['check'])
    }
  }
})

/** What stands in a column behind 25,000 rows with `first`, and what is said of it; null: nothing. */
const late: readonly (readonly [string, string, string | null])[] = [
  ['5', '15e-1', 'which would be rounded: its first rows have whole numbers'],
  ['5', '1.0', null],
  ['15023', '00150', 'which would lose its zeros: its first rows begin with none'],
  ['5', '0', null],
  ['1.5', '1234567890123456.78', 'which would lose digits: a column with fractions is DOUBLE'],
  ['1.5', '1234567890123.45', null],
  ['1.5', '0.33333333333333333333', null],
  ['1.5', '-0.30000000000000004', null],
  ['1.5', '100000000000000000000', null],
  ['1.5', '1e-7', null],
]

for (const [first, value, said] of late)
  test(`${value} behind ${first}: ${said ?? 'nothing is lost'}`, async () => {
    await using space = await workspace({
      ...model,
      'eider.yml': project('{file: data/a.csv}'),
      'data/a.csv': `id,v\n${`1,${first}\n`.repeat(25_000)}2,${value}\n`,
    })
    const { stdout } = await space.ok(['check'], { exitCode: said === null ? 0 : 1 })
    if (said !== null) assert.ok(stdout.includes(`the column "v" has ${value}, ${said}\n`), stdout)
  })

test('a whole number beyond BIGINT says that, and not that there are fractions', async () => {
  await using space = await workspace({
    'eider.yml': 'name: t\n',
    'seeds/ref/x.csv': 'id,v\n1,12345678901234567890\n2,3\n',
  })
  const { stdout } = await space.ok(['check'], { exitCode: 1 })
  assert.match(
    stdout,
    /"v" has 12345678901234567890, which would lose digits: a column with a whole number beyond BIGINT is DOUBLE\n +hint: declare its type in seeds\/ref\/x\.yml, under columns: v: DECIMAL\(38,0\)/,
  )
})

for (const [what, rows, said] of [
  ['is never closed', 'id,name\n1,"abc\n2,def\n', 'has "abc, whose quote is never closed'],
  [
    'comes behind rows without any',
    `id,name\n${'1,abc\n'.repeat(25_000)}2,"def"\n`,
    'has "def", whose quote would be part of it: its first rows have none',
  ],
  [
    'is closed before the end of its value',
    'id,name\n1,"abc"\n2,"def" g\n',
    'has "def" g, whose quote is closed before its end, and quotes enclose other values',
  ],
  [
    'is closed before the end of its value, with quotes far below that enclose others',
    `id,name\n1,"abc" x\n${'1,abc\n'.repeat(21_000)}${'2,"def"\n'.repeat(9_000)}`,
    'has "abc" x, whose quote is closed before its end, and quotes enclose other values',
  ],
  [
    'is closed before the end of its value, beside a value with quotes inside',
    'id,name\n1,"abc" x\n2,"d ""e"" f"\n',
    'has "abc" x, whose quote is closed before its end, and quotes enclose other values',
  ],
  [
    'is closed before the end of its value, and has quotes inside',
    'id,name\n1,"6"" pipe" x\n2,"def"\n',
    'has "6"" pipe" x, whose quote is closed before its end, and quotes enclose other values',
  ],
] as const)
  test(`a quote that ${what} is refused, and said to be a letter it is read`, async () => {
    await using space = await workspace({
      ...model,
      'eider.yml': project('{file: data/*.csv}'),
      'data/a.csv': rows,
    })
    const { stdout } = await space.ok(['check'], { exitCode: 1 })
    assert.ok(stdout.includes(`data/a.csv: the column "name" ${said}\n`), stdout)
    assert.ok(stdout.includes(`hint: write at the table "csv: {quote: '"'}" if quotes`), stdout)
    await space.write('eider.yml', project('{file: data/a.csv, csv: {quote: ""}}'))
    await space.ok(['check'])
  })

test('quotes that enclose values, and letters in titles, are not asked about', async () => {
  await using space = await workspace({
    ...model,
    'eider.yml': project('{file: data/a.csv}'),
    'data/a.csv': 'id,name\n1,"a, b"\n2,"""Heroes"\n',
  })
  await space.ok(['run'])
  const { stdout } = await space.ok(['query', 'core.a', '--format', 'csv'])
  assert.is(stdout, 'id,name\r\n1,"a, b"\r\n2,"""Heroes"\r\n')
  await space.write('data/a.csv', 'id,name\n1,"Heroes" (live)\n2,Low\n3,abc \n4,"d" e "f"\n')
  await space.ok(['run'])
  assert.match(
    (await space.ok(['query', 'core.a', '--format', 'csv'])).stdout,
    '1,"""Heroes"" (live)"\r\n',
  )
  await space.write('data/a.csv', 'id,name\n1,"abc" \n2,"def"\n')
  await space.ok(['run'])
  assert.match((await space.ok(['query', 'core.a', '--format', 'csv'])).stdout, '1,abc')
})

test('decimal commas are seen among whole numbers, and blank lines between rows', async () => {
  await using space = await workspace({
    ...model,
    'eider.yml': project('{file: data/a.csv}'),
    'data/a.csv': 'id;v\n1;1,5\n2;3\n3;1,25\n',
    'seeds/ref/one.csv': 'v\n1\n\n2\n\n',
  })
  const { stdout } = await space.ok(['check'])
  assert.match(
    stdout,
    /the column "v" has numbers with a comma, such as 1,25, which are read as text/,
  )
  assert.match(stdout, /one\.csv:1:1 warning blank-rows: 2 blank lines in a file with one column/)
})

test('a fraction of JSON behind whole numbers fails what reads it, and so does another column, with the line', async () => {
  const row = '{"a":1,"x":{"b":[1]}}\n'
  await using space = await workspace({
    'models/core/a.sql': 'SELECT * FROM s.a\n',
    'eider.yml': project('{file: data/a.ndjson}'),
    'data/a.ndjson': `${row.repeat(25_000)}{"a":2,"x":{"b":[1.5]}}\n`,
  })
  const { stdout } = await space.ok(['run'], { exitCode: 1 })
  assert.match(
    stdout,
    /failed +core\.a +eider\.yml:5:7: the source "s\.a" cannot be read: data\/a\.ndjson: the column "x" has \{'b': \[1\.5\]\}, which would be rounded: its first rows have whole numbers; read the file in a model/,
  )
  await space.write('models/core/b.sql', "FROM read_json('data/a.ndjson', sample_size = -1)\n")
  await space.ok(['run', 'core.b'])
  const last = await space.ok(['query', 'SELECT max(x.b[1]) AS b FROM core.b', '--format', 'csv'])
  assert.is(last.stdout, 'b\r\n1.5\r\n')

  await space.write('data/a.ndjson', `${row.repeat(25_000)}{"a":2,"zz":1}\n`)
  const other = await space.ok(['run', 'core.a'], { exitCode: 1 })
  assert.match(
    other.stdout,
    /a\.ndjson, line 25001: it has "zz", which the first rows do not have; FROM/,
  )
  await space.write('data/a.ndjson', `${row.repeat(25_000)}{"a":"many"}\n`)
  const word = await space.ok(['run', 'core.a'], { exitCode: 1 })
  assert.match(
    word.stdout,
    /a\.ndjson, line 25001: "many" is not a number, as the first rows have there/,
  )
})

test('whole numbers of JSON at the end of their type have no fraction', async () => {
  await using space = await workspace({
    ...model,
    'eider.yml': project('{file: data/a.ndjson}'),
    'data/a.ndjson':
      '{"v":9223372036854775807,"u":1,"x":{"b":[9223372036854775807]}}\n{"v":1,"u":18446744073709551615,"x":null}\n',
  })
  await space.ok(['run'])
  const { stdout } = await space.ok([
    'query',
    'SELECT max(v) AS v, max(u) AS u, max(x.b[1]) AS b FROM core.a',
    '--format',
    'csv',
  ])
  assert.is(stdout, 'v,u,b\r\n9223372036854775807,18446744073709551615,9223372036854775807\r\n')
})

for (const read of ['SELECT v FROM s.a', 'SELECT is_in FROM s.a'])
  test(`a byte that is not UTF-8 behind the first rows fails what reads it alone: ${read}`, async () => {
    await using space = await workspace({
      'eider.yml': project('{file: data/a.csv}'),
      'models/core/a.sql': `${read}\n`,
      'models/core/b.sql': 'SELECT 1 AS x\n',
    })
    const row = '30000,M\xfcller,1\n'
    const rows = `id,v,is_in\n${'1,é,t\n'.repeat(25_000)}`
    await space.write('data/a.csv', Buffer.concat([Buffer.from(rows), Buffer.from(row, 'latin1')]))
    const { stdout } = await space.ok(['run'], { exitCode: 1 })
    assert.match(stdout, /failed +core\.a +eider\.yml:5:7: .* data\/a\.csv is not UTF-8/)
    assert.match(stdout, /built +core\.b/)
  })

test('quotes in a file of another encoding are looked at in that encoding', async () => {
  await using space = await workspace({
    ...model,
    'eider.yml': project('{file: data/a.csv, csv: {encoding: latin-1}}'),
  })
  const rows = 'id,name\n1,"""M\xfcller"\n2,b\n'
  await space.write('data/a.csv', Buffer.from(rows, 'latin1'))
  await space.ok(['run'])
  const { stdout } = await space.ok([
    'query',
    'SELECT name FROM core.a WHERE id = 1',
    '--format',
    'csv',
  ])
  assert.is(stdout, 'name\r\n"""Müller"\r\n')
})

/** A file, the settings of its table, and the query with its answer; or what is said of it. */
const layouts: readonly (readonly [string, string, string])[] = [
  ['id,v\n1,10\n#2,20\n3,30', '', 'the line that begins with #2 would be left out as a comment'],
  ['# exported\nid,v\n1,10\n2,20\n', '', 'id,v\r\n1,10\r\n2,20\r\n'],
  ['id,v\n1,10\n# a note\n2,20\n', '', 'id,v\r\n1,10\r\n2,20\r\n'],
  ['id,v\n1,10\n2,20\n# end', '', 'id,v\r\n1,10\r\n2,20\r\n'],
  ['name,2024,2025\nx,1,2\ny,3,4\n', '', 'its first line (name, 2024, 2025) seems to be a header'],
  ['2024,2025\n1,2\n3,4\n', '', 'its first line (2024, 2025) seems to be a header'],
  ['id,full name\n', '', 'id,full name\r\n'],
  ['id,t\n', '', 'its only line (id, t) seems to be a header'],
  ['id,1\n', '', 'column0,column1\r\nid,1\r\n'],
  ['id,t', 'header: true', 'id,t\r\n'],
  ['id,t\n', 'header: false', 'column0,column1\r\nid,true\r\n'],
  ['2024,2031\n1,2\n3,4\n', '', 'column0,column1\r\n1,2\r\n3,4\r\n2024,2031\r\n'],
  ['name,2024,2025\nx,1,2\n', 'header: true', 'name,2024,2025\r\nx,1,2\r\n'],
  [
    'name,2024,2025\nx,1,2\n',
    'header: false',
    'column0,column1,column2\r\nname,2024,2025\r\nx,1,2\r\n',
  ],
  [
    'bob,1987,x\neve,1990,y\n',
    'header: false',
    'column0,column1,column2\r\nbob,1987,x\r\neve,1990,y\r\n',
  ],
  ['bob,1987,5\neve,1990,6\n', '', 'column0,column1,column2\r\nbob,1987,5\r\neve,1990,6\r\n'],
  [
    'name\nSmith, John\nDoe, Jane\nRoe, Bob',
    '',
    'its header has one column (name), and its rows have commas',
  ],
  ['name\nSmith, John\nDoe, Jane', "delimiter: ';'", 'name\r\n"Doe, Jane"\r\n"Smith, John"\r\n'],
  ['Report 2026\nid,v\n1,a', '', 'id,v\r\n1,a\r\n'],
  ['Customers\nname,city\nBob,Rome\nEve,Bonn', '', 'name,city\r\nBob,Rome\r\nEve,Bonn\r\n'],
]

for (const [rows, csv, answer] of layouts)
  test(`${JSON.stringify(rows)} ${csv} is read as it is written, or refused`, async () => {
    await using space = await workspace({
      ...model,
      'eider.yml': project(`{file: data/a.csv${csv === '' ? '' : `, csv: {${csv}}`}}`),
      'data/a.csv': rows,
    })
    const isRead = answer.endsWith('\n')
    const { stdout } = await space.ok(['check'], { exitCode: isRead ? 0 : 1 })
    if (!isRead) return assert.ok(stdout.includes(answer), stdout)
    await space.ok(['run'])
    const read = await space.ok(['query', 'FROM core.a ORDER BY ALL', '--format', 'csv'])
    assert.is(read.stdout, answer)
  })

test('blank lines above the header are no rows, and a quote that is a letter hides none', async () => {
  await using space = await workspace({
    'models/core/a.sql': 'SELECT * FROM s.a\n',
    'eider.yml': project("{file: data/a.csv, csv: {quote: ''}}"),
    'data/a.csv': 'v\n"1\n\n2\n',
    'seeds/ref/one.csv': 'v\n1\n2\n',
    'seeds/ref/two.csv': 'v\n1\n\n2\n',
  })
  const { stdout } = await space.ok(['check'])
  assert.match(stdout, /blank-rows: data\/a\.csv: 1 blank line/)
  assert.not.match(stdout, /one\.csv/)
  await space.write('eider.yml', project('{file: data/a.csv}'))
  await space.write('data/a.csv', '\n\nv\n1\n2\n')
  assert.not.match((await space.ok(['check'])).stdout, /data\/a\.csv/)
})

test('a file of nothing but its header is told from one without the columns that are declared', async () => {
  const declared = async (columns: string, exitCode: number, csv = '') => {
    await using space = await workspace({
      ...model,
      'eider.yml': project(`{file: data/a.csv, columns: {${columns}: BIGINT}${csv}}`),
      'data/a.csv': 'id,t\n',
    })
    return (await space.ok(['check'], { exitCode })).stdout
  }
  assert.match(await declared('id', 1), /its only line \(id, t\) seems to be a header/)
  assert.match(await declared('id', 1), 'hint: write at the table "csv: {header: true}"')
  assert.match(await declared('id', 0, ', csv: {header: true}'), '0 errors')
})

test.run()
