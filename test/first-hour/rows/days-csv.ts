// Values of CSV files that were read as others without a word, and files of which DuckDB named no line.

import { inSource, read, run } from '../in-source.ts'
import type { Mistake } from '../mistake.ts'

const mixed = `id,v\r\n${'1,2\r\n'.repeat(30_000)}3,4\n5,6\n`

export const rows: readonly Mistake[] = [
  {
    ...inSource(
      'd68',
      'a long number in the second file of a pattern, and a fraction in the first',
      read('data/f-*.csv', {
        'data/f-1.csv': 'id,v\n1,1.5\n',
        'data/f-2.csv': 'id,v\n2,9007199254740993\n',
      }),
      run,
    ),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: data/f-2.csv: the column "v" has 9007199254740993, which would lose digits: a column with fractions is DOUBLE
      hint: declare its type under columns of the table: v: DECIMAL(38,1)
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: data/f-2.csv: the column "v" has 9007199254740993, which would lose digits: a column with fractions is DOUBLE
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd41-comma',
      'the same with a decimal comma',
      read('data/t.csv', { 'data/t.csv': 'id;v\n1;1,5\n2;9007199254740993\n' }, [
        "csv: {decimal: ','}",
      ]),
      ['check'],
    ),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: data/t.csv: the column "v" has 9007199254740993, which would lose digits: a column with fractions is DOUBLE
      hint: declare its type under columns of the table: v: DECIMAL(38,1)
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd41-declared',
      'the same with a type',
      read('data/t.csv', { 'data/t.csv': 'id,v\n1,1.5\n2,9007199254740993\n' }, [
        "columns: {v: 'DECIMAL(20,1)'}",
      ]),
      ['query', '--format', 'csv', 'SELECT * FROM core.t ORDER BY ALL'],
      [run],
    ),
    answer: `
      id,v
      1,1.5
      2,9007199254740993.0`,
    grade: 'A',
  },
  {
    id: 'd41-seed',
    mistake: 'a long number and a fraction with signs of thousands in a seed',
    files: {
      'seeds/ref/t.csv': 'id;v\n1;1.000,5\n2;9.007.199.254.740.993\n',
      'seeds/ref/t.yml': 'csv: {decimal: ",", thousands: "."}\n',
    },
    ask: { eider: ['check'] },
    answer: `
      seeds/ref/t.csv:1:1 error seed-row: the column "v" has 9.007.199.254.740.993, which would lose digits: a column with fractions is DOUBLE
      hint: declare its type in seeds/ref/t.yml, under columns: v: DECIMAL(38,1)
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd69',
      'a file whose lines end in two ways',
      read('data/t.csv', { 'data/t.csv': 'id,v\r\n1,2\r\n3,4\n5,6\r\n' }),
      ['check'],
    ),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: data/t.csv:3:4: this line ends in LF, and the header in CR LF
      hint: use the same line endings throughout; put a value that contains a line break in quotes
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd42-late',
      'the same below the lines by which DuckDB judges a file',
      read('data/t.csv', { 'data/t.csv': mixed }),
      run,
    ),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: data/t.csv:30002:4: this line ends in LF, and the header in CR LF
      hint: use the same line endings throughout; put a value that contains a line break in quotes
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: data/t.csv:30002:4: this line ends in LF, and the header in CR LF
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd43',
      'dates in two forms in a column',
      read('data/f-*.csv', {
        'data/f-1.csv': 'id,d\n1,2024-01-25\n',
        'data/f-2.csv': 'id,d\n2,2024-01-05\n3,25.01.2024\n',
      }),
      run,
    ),
    answer: `
      models/core/t.sql:1:1 error core.t: f-2.csv, line 2: the column "d" has 2024-01-05, which is no date of the form %d.%m.%Y; write all of them in one form, or take the column as text: columns: {d: VARCHAR}
      failed core.t models/core/t.sql:1:1: f-2.csv, line 2: the column "d" has 2024-01-05, which is no date of the form %d.%m.%Y; write all of them in one form, or take the column as text: columns: {d: VARCHAR}
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      'd44',
      'decimal commas in a source',
      read('data/t.csv', { 'data/t.csv': 'id;v\n1;12,50\n2;1.234,56\n' }),
      ['check'],
    ),
    answer: `
      eider.yml:5:7 warning decimal-comma: the column "v" has numbers with a comma, such as 1.234,56, which are read as text
      hint: write at the table: csv: {decimal: ",", thousands: "."}
      ok: 6 models, 0 errors, 1 warning`,
    grade: 'A',
  },
  {
    ...inSource(
      'd45',
      'blank lines in a file with one column',
      read('data/f-*.csv', { 'data/f-1.csv': 'name\nx\n', 'data/f-2.csv': 'name\ny\n\n\n\n' }),
      ['check'],
    ),
    answer: `
      eider.yml:5:7 warning blank-rows: data/f-2.csv: 3 blank lines in a file with one column, where each is a row with NULL
      hint: remove them; a row whose value is missing on purpose is written as ""
      ok: 6 models, 0 errors, 1 warning`,
    grade: 'A',
  },
  {
    ...inSource(
      'd70',
      'dates with a year of two digits',
      read('data/t.csv', { 'data/t.csv': 'id,d\n1,15.01.26\n2,28.02.26\n' }),
      ['check'],
    ),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: the column "d" has dates with a year of two digits, which may be first or last: 15.01.26
      hint: say which, under csv: date_format: "%d.%m.%y" has the day first, "%m.%d.%y" the month, "%y.%m.%d" the year
      failed: 6 models, 1 error, 0 warnings`,
    grade: 'A',
  },
  {
    ...inSource(
      'd71',
      'cents after 25,000 whole amounts',
      read('data/t.csv', { 'data/t.csv': `amount\n${'12\n'.repeat(25_000)}12.75\n` }),
      ['check'],
    ),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: data/t.csv: the column "amount" has 12.75, which would be rounded: its first rows have whole numbers
      hint: declare its type under columns of the table: amount: DOUBLE
      failed: 6 models, 1 error, 0 warnings`,
    grade: 'A',
  },
]
