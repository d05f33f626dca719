// Files of sources whose rows or forms differ: what cannot be right is refused at its line, and what may be right is read.

import { inSource, read, run } from '../in-source.ts'
import type { Mistake } from '../mistake.ts'

const HEADER = 'id,d,v\n'
const ROW = '1,2026-01-13,1.5\n'
const short = `${HEADER}${ROW.repeat(50)}1,2026-01-13\n${ROW.repeat(9)}`
const three = `${HEADER}${ROW}2,2026-01-14\n3,2026-01-15,2.5,9\n`

const COMMA = 'write a comma for a missing value too'
const QUOTES = 'put a value that contains a comma in quotes: "2,3"'
const UNION = ['csv: {union_by_name: true}']
const WITH_HEADER = ["csv: {delimiter: ',', header: true}"]

const said = (problem: string, hint: string) => `
  eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: ${problem}
  hint: ${hint}`

const refused = (
  id: string,
  mistake: string,
  files: Readonly<Record<string, string>>,
  problem: string,
  hint: string,
  more: readonly string[] = [],
): Mistake => ({
  id,
  mistake,
  files: read('data/*.csv', files, more),
  answer: said(problem, hint),
  grade: 'A',
})

const fine = (
  id: string,
  mistake: string,
  text: string,
  answer: string,
  more: readonly string[] = [],
): Mistake => ({
  ...inSource(
    id,
    mistake,
    read('data/*.csv', { 'data/a.csv': text }, more),
    ['query', '--format', 'csv', 'SELECT * FROM core.t ORDER BY ALL'],
    [run],
  ),
  answer,
  grade: 'A',
})

const both = (file: string, date = '02/03/2026') =>
  `${file}: the column "d" has dates that can be read both ways: ${date} is 2 March or 3 February`
const WHICH =
  'say which, under csv: date_format: "%d/%m/%Y" has the day first, "%m/%d/%Y" the month'

const dates = (...all: string[]) => HEADER + all.map((date) => `1,${date},2\n`).join('')

export const rows: readonly Mistake[] = [
  refused(
    'n101',
    'a row of a CSV source with a value too few',
    { 'data/a.csv': short },
    'data/a.csv:52: this row has 2 fields, the header has 3 (id, d, v)',
    COMMA,
  ),
  refused(
    'n101-declared',
    'the same with types',
    { 'data/a.csv': short },
    'data/a.csv:52: this row has 2 fields, the header has 3 (id, d, v)',
    COMMA,
    ['columns: {v: DOUBLE, d: DATE}'],
  ),
  refused(
    'n101-header',
    'the same with a delimiter and a header',
    { 'data/a.csv': short },
    'data/a.csv:52: this row has 2 fields, the header has 3 (id, d, v)',
    COMMA,
    WITH_HEADER,
  ),
  refused(
    'n102',
    'rows of three lengths',
    { 'data/a.csv': three },
    'data/a.csv:3: this row has 2 fields, the header has 3 (id, d, v)',
    COMMA,
  ),
  refused(
    'n102-header',
    'the same with a header',
    { 'data/a.csv': three },
    'data/a.csv:3: this row has 2 fields, the header has 3 (id, d, v)',
    `${COMMA}; if the lines above it are titles, read the file in a model: FROM read_csv('data/a.csv', skip = 2)`,
    WITH_HEADER,
  ),
  refused(
    'n103',
    'rows that grow by a value',
    { 'data/a.csv': HEADER + ROW.repeat(10) + '1,2026-01-13,1.5,x\n'.repeat(100) },
    'data/a.csv:12: this row has 4 fields, the header has 3 (id, d, v)',
    QUOTES,
  ),
  refused(
    'n103-words',
    'the same of words, of which one row looks like a header',
    { 'data/a.csv': 'a,b,c\n' + 'x,y,z\n'.repeat(10) + 'x,y,z,w\n'.repeat(100) },
    'data/a.csv:12: this row has 4 fields, the header has 3 (a, b, c)',
    `${QUOTES}; if the lines above it are titles, read the file in a model: FROM read_csv('data/a.csv', skip = 11)`,
  ),
  refused(
    'n103-less',
    'rows that lose a value',
    { 'data/a.csv': HEADER + ROW.repeat(10) + '1,2026-01-13\n'.repeat(100) },
    'data/a.csv:12: this row has 2 fields, the header has 3 (id, d, v)',
    COMMA,
  ),
  refused(
    'n103-end',
    'a line at the end that is no row',
    { 'data/a.csv': `${HEADER}${ROW.repeat(100)}100 rows exported\n` },
    'data/a.csv:102: this row has 1 field, the header has 3 (id, d, v)',
    COMMA,
  ),
  refused(
    'n99',
    'the second file of a pattern with such rows',
    { 'data/a1.csv': HEADER + ROW, 'data/a2.csv': `${HEADER}3,2026-02-13\n4,2026-02-13,4,5\n` },
    'data/a2.csv:2: this row has 2 fields, the header has 3 (id, d, v)',
    COMMA,
  ),
  refused(
    'n99-union',
    'the same by name',
    {
      'data/a1.csv': HEADER + ROW,
      'data/a2.csv': HEADER + ROW.repeat(10) + '1,2026-01-13,1.5,x\n'.repeat(100),
    },
    'data/a2.csv:12: this row has 4 fields, the header has 3 (id, d, v)',
    QUOTES,
    UNION,
  ),
  refused(
    'n98',
    'the second file of a pattern without a header',
    { 'data/a1.csv': HEADER + ROW, 'data/a2.csv': '3,2026-02-13,3.5\n' },
    'data/a2.csv has no header: it begins with the row 3, 2026-02-13, 3.5',
    'begin it with the header of data/a1.csv: id, d, v',
  ),
  refused(
    'n100',
    'dates that can be read both ways behind others',
    { 'data/a1.csv': dates('2026-01-13'), 'data/a2.csv': dates('02/03/2026', '04/05/2026') },
    both('data/a2.csv'),
    WHICH,
  ),
  refused(
    'n107',
    'the same by name',
    { 'data/a1.csv': dates('2026-01-13'), 'data/a2.csv': dates('02/03/2026') },
    both('data/a2.csv'),
    WHICH,
    UNION,
  ),
  refused(
    'n107-both',
    'a third file by name, in which the month is first',
    {
      'data/a1.csv': dates('2026-01-13'),
      'data/a2.csv': dates('02/03/2026'),
      'data/a3.csv': dates('04/13/2026'),
    },
    both('data/a2.csv'),
    WHICH,
    UNION,
  ),
  refused(
    'n107-first',
    'the same before a file in which the month is first',
    { 'data/a1.csv': dates('02/03/2026'), 'data/a2.csv': dates('04/13/2026', '02/03/2026') },
    both('data/a1.csv'),
    WHICH,
  ),
  refused(
    'n107-many',
    'the same behind many rows of a file, by name',
    {
      'data/a1.csv': dates(...Array.from({ length: 25_000 }, () => '04/13/2026')),
      'data/a2.csv': dates('02/03/2026'),
    },
    both('data/a2.csv'),
    WHICH,
    UNION,
  ),
  {
    id: 'n99-text',
    mistake: 'a row with too many fields in a file that is called .txt',
    files: read('data/a.txt', { 'data/a.txt': three }),
    answer: said('data/a.txt:3: this row has 2 fields, the header has 3 (id, d, v)', COMMA),
    grade: 'A',
  },
  {
    id: 'n107-told',
    mistake: 'dates of which another file tells the form',
    files: read('data/*.csv', {
      'data/a1.csv': dates('01/13/2026'),
      'data/a2.csv': dates('02/03/2026'),
    }),
    answer: '',
    grade: 'A',
  },
  {
    id: 'n107-told-union',
    mistake: 'the same by name, with the day first',
    files: read(
      'data/*.csv',
      { 'data/a1.csv': dates('13/01/2026'), 'data/a2.csv': dates('02/03/2026') },
      UNION,
    ),
    answer: '',
    grade: 'A',
  },
  {
    ...inSource(
      'n95',
      'dates of two forms in a source with loaded_at',
      read('data/t.csv', { 'data/t.csv': 'd,v\n2026-11-27,1\n27.11.2026,2\n' }, ['loaded_at: d']),
      run,
    ),
    answer: `
      error core.t: the source f.t cannot be read: t.csv, line 2: the column "d" has 2026-11-27, which is no date of the form %d.%m.%Y; write all of them in one form, or take the column as text: columns: {d: VARCHAR}
      failed core.t the source f.t cannot be read: t.csv, line 2: the column "d" has 2026-11-27, which is no date of the form %d.%m.%Y; write all of them in one form, or take the column as text: columns: {d: VARCHAR}
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'n7',
    mistake: 'a Parquet file that is still being written',
    files: read('data/t.parquet', { 'data/t.parquet': 'PAR1 and no footer yet' }),
    answer: said(
      'data/t.parquet is incomplete: it is still being written, or was cut off',
      'run again when it is whole; let its writer give it another name, such as with .tmp at the end, and rename it when it is',
    ),
    grade: 'A',
  },
  {
    id: 'n7-other',
    mistake: 'a web page as a Parquet file',
    files: read('data/t.parquet', { 'data/t.parquet': '<html>this is not found</html>' }),
    answer: said(
      'data/t.parquet is not a Parquet file',
      'get or write the file again: a download may have stored the answer of an error',
    ),
    grade: 'A',
  },
  fine(
    'n101-title',
    'a title with a comma above the header',
    `Report, May\n\n${HEADER}${ROW}`,
    `
      id,d,v
      1,2026-01-13,1.5`,
  ),
  fine(
    'n101-titles',
    'names and values above the header',
    `Export,orders\nMonth,May\n${HEADER}${ROW}`,
    `
      id,d,v
      1,2026-01-13,1.5`,
    WITH_HEADER,
  ),
  fine(
    'n101-quotes',
    'commas and line breaks in quotes',
    'id,v\n1,"a, b"\n2,"c\nd, e, f"\n',
    `
      id,v
      1,"a, b"
      2,"c
      d, e, f"`,
  ),
  fine(
    'n101-single',
    'single quotes, without a header',
    "1,'a,b',2\n2,'c',3\n",
    `
      column0,column1,column2
      1,"a,b",2
      2,c,3`,
  ),
  refused(
    'n101-years',
    'a title with a comma above a header of years, which DuckDB takes for a row',
    { 'data/a.csv': 'Sales,by year\nregion,2024,2025\nx,1,2\n' },
    'data/a.csv:2: this row has 3 fields, the header has 2 (Sales, by year)',
    `${QUOTES}; if the lines above it are titles, read the file in a model: FROM read_csv('data/a.csv', skip = 1)`,
  ),
]
