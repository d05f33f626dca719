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
  {
    id: 'd11e',
    mistake: 'an empty CSV',
    files: { 'seeds/ref/bad.csv': '' },
    answer: `
      seeds/ref/bad.csv:1:1 error seed-row: the first line is blank, and must name the columns
      hint: begin the file with its header, without blank lines above it`,
    grade: 'A',
  },
  {
    id: 'd11e-header',
    mistake: 'a CSV without rows',
    files: { 'seeds/ref/bad.csv': 'a,b\n' },
    answer: `
      seeds/ref/bad.csv:1:1 warning untyped-empty-seed: the seed has no rows to infer types from, so these columns are VARCHAR: "a", "b"
      hint: declare them under "columns" in seeds/ref/bad.yml`,
    grade: 'A',
  },
  {
    id: 'd11g',
    mistake: 'broken JSON',
    files: { 'seeds/ref/bad.json': '[{"a": 1},\n{"a": }]' },
    answer: `
      seeds/ref/bad.json:1:1 error unreadable-file: the file cannot be read: Malformed JSON in file "seeds/ref/bad.json", at byte 7 in record/value 3: unexpected character.
      hint: check that the file is complete and has the format of its extension`,
    grade: 'A',
  },
  {
    id: 'd11h',
    mistake: 'a seed without a schema',
    files: { 'seeds/bad.csv': 'a,b\n1,2\n' },
    answer: `
      seeds/bad.csv:1:1 error invalid-model-path: the path does not name a model: expected seeds/<schema>/<name>.csv, .tsv, .json, .jsonl, .ndjson, .parquet
      hint: put it into a folder, such as seeds/core/bad.csv`,
    grade: 'A',
  },
  {
    id: 'd11h-xlsx',
    mistake: 'a sheet of Excel',
    files: { 'seeds/ref/bad.xlsx': 'PK' },
    answer: `
      seeds/ref/bad.xlsx:1:1 error invalid-model-path: the path does not name a model: expected seeds/<schema>/<name>.csv, .tsv, .json, .jsonl, .ndjson, .parquet
      hint: save the sheet as CSV`,
    grade: 'A',
  },
  {
    id: 'd11i',
    mistake: 'a misspelt key in the .yml of a seed',
    files: { 'seeds/ref/countries.yml': 'colums:\n  name: VARCHAR\n' },
    answer: `
      seeds/ref/countries.yml:1:1 error config-unknown-key: no setting "colums"
      hint: available here: columns, csv, checks, warn`,
    grade: 'A',
  },
  {
    id: 'd11i-type',
    mistake: 'a type that is not one in the .yml of a seed',
    files: { 'seeds/ref/countries.yml': 'columns:\n  name: STRNG\n' },
    answer: `
      seeds/ref/countries.yml:2:9 error invalid-column-type: "STRNG" is not a column type
      hint: did you mean "STRING"?`,
    grade: 'A',
  },
  {
    id: 'd11i-column',
    mistake: 'a column that the seed does not have',
    files: { 'seeds/ref/countries.yml': 'columns:\n  nme: VARCHAR\n' },
    answer: `
      seeds/ref/countries.yml:2:3 error unknown-seed-column: the seed has no column "nme"
      hint: did you mean "name"?`,
    grade: 'A',
  },
  {
    id: 'h08',
    mistake: 'a byte order mark and line ends of Windows',
    files: { 'eider.yml': '\ufeffname: shop\r\n', 'seeds/ref/good.csv': '\ufeffa,b\r\n1,2\r\n' },
    answer: '',
    grade: 'A',
  },
  {
    id: 'd11k',
    mistake: 'a comma at the end of the header',
    files: { 'seeds/ref/bad.csv': 'a,b,\n1,2,\n' },
    answer: `
      seeds/ref/bad.csv:1:5 error seed-row: column 3 of the header has no name
      hint: name it, or remove a comma at the end of each line`,
    grade: 'A',
  },
  {
    id: 'd11k-first',
    mistake: 'a first column without a name',
    files: { 'seeds/ref/bad.csv': ',b\n1,2\n' },
    answer: `
      seeds/ref/bad.csv:1:1 error seed-row: column 1 of the header has no name
      hint: give each column a name`,
    grade: 'A',
  },
  {
    id: 'd11l',
    mistake: 'a long number beside fractions',
    files: { 'seeds/ref/bad.csv': 'a,b\n1.1,x\n12345678901234567890,y\n' },
    answer: `
      seeds/ref/bad.csv:1:1 error seed-row: the column "a" has 12345678901234567890, which would lose digits: a column with fractions is DOUBLE
      hint: declare its type in seeds/ref/bad.yml, under columns: a: DECIMAL(38,1)`,
    grade: 'A',
  },
  {
    id: 'd11l-infinite',
    mistake: 'a number beyond every type',
    files: { 'seeds/ref/bad.csv': 'a,b\n1.5,x\n1e400,y\n' },
    answer: `
      seeds/ref/bad.csv:1:1 error seed-row: the column "a" has 1e400, which is beyond DOUBLE and would be infinite
      hint: declare its type in seeds/ref/bad.yml, under columns: a: VARCHAR`,
    grade: 'A',
  },
  {
    id: 'd11l-fine',
    mistake: 'fractions with many digits',
    files: { 'seeds/ref/good.csv': 'a,b\n3.141592653589793238,x\n1e300,y\nNaN,z\n12,w\n' },
    answer: '',
    grade: 'A',
  },
  {
    id: 'd11m',
    mistake: 'a CSV source with one comma too many',
    files: {
      'eider.yml': 'name: shop\nsources:\n  crm:\n    tables:\n      c: { file: data/c.csv }\n',
      'data/c.csv': 'a,b\n1,2\n1,2,3\n4,5\n',
    },
    answer: `
      eider.yml:5:7 error invalid-source: the source "crm.c" cannot be read: data/c.csv:3: this row has 3 fields, the header has 2 (a, b)
      hint: put a value that contains a comma in quotes: "2,3"`,
    grade: 'A',
  },
  {
    id: 'd11m-header',
    mistake: 'a CSV source whose last row has one comma too many',
    files: {
      'eider.yml': 'name: shop\nsources:\n  crm:\n    tables:\n      c: { file: data/c.csv }\n',
      'data/c.csv': 'a,b\n1,2\n1,2,3\n',
    },
    answer: `
      eider.yml:5:7 error invalid-source: the source "crm.c" cannot be read: data/c.csv:3: this row has 3 fields, the header has 2 (a, b)
      hint: put a value that contains a comma in quotes: "2,3"`,
    grade: 'A',
  },
  {
    id: 'd11m-bare',
    mistake: 'a CSV source without a header',
    files: {
      'eider.yml': 'name: shop\nsources:\n  crm:\n    tables:\n      c: { file: data/c.csv }\n',
      'data/c.csv': '1,2\n3,4\n',
    },
    answer: '',
    grade: 'A',
  },
]
