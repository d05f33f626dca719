import type { Mistake } from '../mistake.ts'

export const rows: readonly Mistake[] = [
  {
    id: 'd11a',
    mistake: 'a row with one comma too many',
    files: { 'seeds/ref/bad.csv': 'a,b\n1,2\n1,2,3\n4,5\n' },
    answer: `
      seeds/ref/bad.csv:3:5 error seed-row: this row has 3 fields, the header has 2 (a, b)
      hint: put a value that contains a comma in quotes: "2,3"`,
    grade: 'A',
  },
  {
    id: 'd11b',
    mistake: 'one comma too many in the last row',
    files: { 'seeds/ref/bad.csv': 'a,b\n1,2\n1,2,3\n' },
    answer: `
      seeds/ref/bad.csv:3:5 error seed-row: this row has 3 fields, the header has 2 (a, b)
      hint: put a value that contains a comma in quotes: "2,3"`,
    grade: 'A',
  },
  {
    id: 'd11c',
    mistake: 'an open quote in a CSV',
    files: { 'seeds/ref/bad.csv': 'a,b\n1,"abc\n2,x\n' },
    answer: `
      seeds/ref/bad.csv:2:3 error seed-row: a quote is opened and never closed
      hint: close it; a quote inside a quoted value is doubled: "say ""hi"""`,
    grade: 'A',
  },
  {
    id: 'd11d',
    mistake: 'a CSV in Latin-1',
    files: { 'seeds/ref/bad.csv': Buffer.from('a,b\n1,caf\u00e9\n', 'latin1') },
    answer: `
      seeds/ref/bad.csv:2:6 error unreadable-file: the byte E9 is not UTF-8
      hint: it looks like Latin-1 (Windows-1252); save it as UTF-8`,
    grade: 'A',
  },
  {
    id: 'd11f',
    mistake: 'a header with a name twice',
    files: { 'seeds/ref/bad.csv': 'a,a\n1,2\n' },
    answer: `
      seeds/ref/bad.csv:1:1 warning duplicate-seed-column: the header has "a" twice; the second is read as "a_1"
      hint: give each column a name`,
    grade: 'A',
  },
]
