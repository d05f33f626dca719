// CSV and JSON as they come from others, in the first days: seeds, and files of sources.

import { inSource, read, run } from '../in-source.ts'
import type { Mistake } from '../mistake.ts'

const query = ['query', '--format', 'csv', 'SELECT * FROM core.t ORDER BY ALL']

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')

const manyNumbers = `id\n${Array.from({ length: 60_000 }, (_, i) => `${i}\n`).join('')}n/a\n`

export const rows: readonly Mistake[] = [
  {
    id: 'd04',
    mistake: 'a seed in UTF-16',
    files: { 'seeds/ref/t.csv': utf16('a,b\n1,2\n') },
    ask: { eider: ['check'] },
    answer: `
      seeds/ref/t.csv:1:1 error unreadable-file: the file is UTF-16
      hint: save it as UTF-8
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd05-commas',
    mistake: 'decimal commas in a seed',
    files: { 'seeds/ref/t.csv': 'day;amount\n24.12.2025;7,50\n31.12.2025;1.234,56\n' },
    ask: { eider: ['check'] },
    answer: `
      seeds/ref/t.csv:1:1 warning decimal-comma: the column "amount" has numbers with a comma, such as 1.234,56, which are read as text
      hint: seeds/ref/t.yml: write csv: {decimal: ",", thousands: "."}
      ok: 6 models, 0 errors, 1 warning`,
    grade: 'A',
  },
  {
    id: 'd05-said',
    mistake: 'decimal commas in a seed, said',
    files: {
      'seeds/ref/t.csv': 'day;amount\n24.12.2025;7,50\n31.12.2025;1.234,56\n',
      'seeds/ref/t.yml':
        'csv: {decimal: ",", thousands: "."}\ncolumns: {amount: "DECIMAL(10,2)"}\n',
    },
    ask: {
      eider: ['query', '--format', 'csv', 'SELECT * FROM ref.t ORDER BY ALL'],
      after: [['run', 'ref.t']],
    },
    answer: `
      day,amount
      2025-12-24,7.50
      2025-12-31,1234.56`,
    grade: 'A',
  },
  {
    id: 'd06-declared',
    mistake: 'decimal commas in a seed of a declared DECIMAL',
    files: {
      'seeds/ref/t.csv': 'day;amount\n24.12.2025;1.234,56\n',
      'seeds/ref/t.yml': 'columns: {amount: "DECIMAL(10,2)"}\n',
    },
    ask: { eider: ['run', 'ref.t'] },
    answer: `
      error ref.t: seeds/ref/t.csv: line 2: Error when converting column "amount". Could not convert string "1.234,56" to 'DECIMAL'; csv: {decimal: ",", thousands: "."} reads it
      failed ref.t seeds/ref/t.csv: line 2: Error when converting column "amount". Could not convert string "1.234,56" to 'DECIMAL'; csv: {decimal: ",", thousands: "."} reads it
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd07-seed',
    mistake: 'dates of the United States in a seed',
    files: { 'seeds/ref/t.csv': 'day\n01/02/2026\n01/05/2026\n' },
    ask: { eider: ['run', 'ref.t'] },
    answer: `
      seeds/ref/t.csv:1:1 error seed-row: the column "day" has dates that can be read both ways: 01/02/2026 is 1 February or 2 January
      hint: seeds/ref/t.yml: say which, under csv: date_format: "%d/%m/%Y" has the day first, "%m/%d/%Y" the month
      failed ref.t seeds/ref/t.csv: the column "day" has dates that can be read both ways: 01/02/2026 is 1 February or 2 January
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd07-source',
      'dates of the United States in a source',
      read('data/t.csv', { 'data/t.csv': 'day\n01/02/2026\n01/05/2026\n' }),
      run,
    ),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: the column "day" has dates that can be read both ways: 01/02/2026 is 1 February or 2 January
      hint: say which, under csv: date_format: "%d/%m/%Y" has the day first, "%m/%d/%Y" the month
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: the column "day" has dates that can be read both ways: 01/02/2026 is 1 February or 2 January
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd08-comma',
    mistake: 'a decimal comma between commas, without quotes',
    files: { 'seeds/ref/t.csv': 'day,amount\n2025-12-24,7,50\n' },
    ask: { eider: ['check'] },
    answer: `
      seeds/ref/t.csv:2:14 error seed-row: this row has 3 fields, the header has 2 (day, amount)
      hint: put a value that contains a comma in quotes: "2,3"
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd27',
      'a later file of a pattern has one column more',
      read('data/f-*.csv', { 'data/f-1.csv': 'id,a\n1,2\n', 'data/f-2.csv': 'b,id,a\n3,4,5\n' }),
      run,
    ),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: data/f-2.csv has a column "b", which data/f-1.csv does not have
      hint: give all files the same columns, or write "csv: {union_by_name: true}": a column that a file lacks is then NULL
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: data/f-2.csv has a column "b", which data/f-1.csv does not have
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd28',
      'a later file of a pattern has text where numbers were',
      read('data/f-*.csv', { 'data/f-1.csv': 'id,a\n1,2\n' }),
      run,
      [run, { 'data/f-2.csv': 'id,a\n2,many\n' }],
    ),
    answer: `
      built core.t 2 rows, <time> (file data/f-*.csv changed)
      1 built in <time>`,
    grade: 'B',
  },
  {
    ...inSource(
      'd28-exposed',
      'the same of an exposed column',
      {
        ...read('data/f-*.csv', { 'data/f-1.csv': 'id,a\n1,2\n' }),
        'models/core/t.sql': '-- @expose id\nSELECT id, a FROM f.t\n',
      },
      run,
      [run, { 'data/f-2.csv': 'id,a\n2,many\n' }],
    ),
    answer: `
      models/core/t.sql:1:4 error core.t: clients of core_t would break, so it stays as it was published: property a retyped from BIGINT to VARCHAR; if they are ready: eider run --accept core.t, or eider plan --accept core.t for the next run
      built core.t 2 rows, <time> (file data/f-*.csv changed)
      failed core.t models/core/t.sql:1:4: clients of core_t would break, so it stays as it was published: property a retyped from BIGINT to VARCHAR; if they are ready: eider run --accept core.t, or eider plan --accept core.t for the next run
      1 failed in <time> eider run --retry`,
    grade: 'A',
  },
  {
    ...inSource(
      'd29',
      'n/a in row 60,001 of a pattern',
      read('data/f-*.csv', { 'data/f-1.csv': 'id\n7\n', 'data/f-2.csv': manyNumbers }),
      run,
    ),
    answer: `
      models/core/t.sql:1:1 error core.t: f-2.csv, line 60002: Error when converting column "id". Could not convert string "n/a" to 'BIGINT'; csv: {nulls: ['n/a']} reads it as NULL
      failed core.t models/core/t.sql:1:1: f-2.csv, line 60002: Error when converting column "id". Could not convert string "n/a" to 'BIGINT'; csv: {nulls: ['n/a']} reads it as NULL
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd30',
      'a byte order mark, line ends of Windows and semicolons in a source',
      read('data/t.csv', { 'data/t.csv': '\ufeffid;name\r\n1;Zoë\r\n' }),
      query,
      [run],
    ),
    answer: `
      id,name
      1,Zoë`,
    grade: 'A',
  },
  {
    ...inSource(
      'd31-latin',
      'Latin-1 in a source',
      read('data/t.csv', { 'data/t.csv': Buffer.from('id,name\n1,Zoë\n', 'latin1') }),
      run,
    ),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: data/t.csv is not UTF-8
      hint: say how it is written, such as "csv: {encoding: latin-1}" or utf-16, or save it as UTF-8
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: data/t.csv is not UTF-8
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd31-utf16',
      'UTF-16 in a source',
      read('data/t.csv', { 'data/t.csv': utf16('id,name\n1,Zoë\n') }),
      run,
    ),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: data/t.csv is UTF-16
      hint: write "csv: {encoding: utf-16}" at the table, or save the file as UTF-8
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: data/t.csv is UTF-16
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd31-said',
      'Latin-1 in a source, said',
      read('data/t.csv', { 'data/t.csv': Buffer.from('id,name\n1,Zoë\n', 'latin1') }, [
        'csv: {encoding: latin-1}',
      ]),
      query,
      [run],
    ),
    answer: `
      id,name
      1,Zoë`,
    grade: 'A',
  },
  {
    ...inSource('d32', 'an empty file of a source', read('data/t.csv', { 'data/t.csv': '' }), run),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: data/t.csv is empty
      hint: begin it with a header: a header alone is a table without rows
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: data/t.csv is empty
      1 failed, published <id> in <time> eider run --retry`,
    grade: 'A',
  },
  {
    ...inSource(
      'd32-header',
      'a file of a source with a header only',
      read('data/t.csv', { 'data/t.csv': 'id,name\n' }),
      run,
    ),
    answer: `
      built core.t 0 rows, <time> (first build)
      1 built, published <id> in <time>`,
    grade: 'A',
  },
  {
    ...inSource('d33', 'a pattern that no file matches', read('data/f-*.csv', {}), run),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: No files found that match the pattern "data/f-*.csv"
      hint: paths are relative to the directory of eider.yml
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: No files found that match the pattern "data/f-*.csv"
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd33-later',
      'a pattern that no file matches any more',
      read('data/f-*.csv', { 'data/f-1.csv': 'id\n1\n' }),
      run,
      [run, { 'data/f-1.csv': null }],
    ),
    answer: `
      eider.yml:5:7 error core.t: the source "f.t" cannot be read: No files found that match the pattern "data/f-*.csv"
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: No files found that match the pattern "data/f-*.csv"
      1 failed in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd34',
      'a field of JSON that becomes text once',
      {
        ...read('data/t.json', { 'data/t.json': '{"id":1,"px":5}\n' }),
        'models/core/t.sql': '-- @expose id\nSELECT id, px FROM f.t\n',
      },
      run,
      [run, { 'data/t.json': '{"id":1,"px":5}\n{"id":2,"px":"one"}\n' }],
    ),
    answer: `
      models/core/t.sql:1:4 error core.t: clients of core_t would break, so it stays as it was published: property px retyped from BIGINT to JSON; if they are ready: eider run --accept core.t, or eider plan --accept core.t for the next run
      built core.t 2 rows, <time> (file data/t.json changed)
      failed core.t models/core/t.sql:1:4: clients of core_t would break, so it stays as it was published: property px retyped from BIGINT to JSON; if they are ready: eider run --accept core.t, or eider plan --accept core.t for the next run
      1 failed in <time> eider run --retry`,
    grade: 'A',
  },
  {
    ...inSource(
      'd35',
      'the same with a contract',
      {
        ...read('data/t.csv', { 'data/t.csv': 'id,px\n1,5\n' }),
        'models/core/t.sql': '-- @expose id\n-- @contract\nSELECT id, px FROM f.t\n',
      },
      run,
      [['contract', 'core.t'], run, { 'data/t.csv': 'id,px\n1,5\n2,one\n' }],
    ),
    answer: `
      models/core/t.sql:4:4 error contract-broken: the contract is broken: the column "px" is now VARCHAR
      hint: clients rely on it; if they are ready for the change, accept it: eider contract core.t
      failed core.t models/core/t.sql:4:4: the contract is broken: the column "px" is now VARCHAR
      1 failed in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource('d60-home', 'a file in the home directory', read('~/f.csv', {}), run),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: No files found that match the pattern "~/f.csv"
      hint: paths are relative to the directory of eider.yml
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: No files found that match the pattern "~/f.csv"
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource('d60-windows', 'a path of Windows', read("'C:\\data\\f.csv'", {}), run),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: No files found that match the pattern "C:\\data\\f.csv"
      hint: paths are relative to the directory of eider.yml
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: No files found that match the pattern "C:\\data\\f.csv"
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
]
