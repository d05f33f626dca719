// Files that are named as a CSV and are something else, or begin with what is no header; databases that are no files.

import { gzipSync } from 'node:zlib'
import { inSource, read, run } from '../in-source.ts'
import type { Mistake } from '../mistake.ts'

const query = ['query', '--format', 'csv', 'SELECT * FROM core.t ORDER BY ALL']

const conflict = '<<<<<<< HEAD\n2\n=======\n3\n>>>>>>> other\n'
const resolve = 'hint: keep one side and delete the lines <<<<<<<, ======= and >>>>>>>'

/** A part of an archive, as it is stored. */
const zipped = (name: string) =>
  Buffer.concat([Buffer.from('504b0304', 'hex'), Buffer.alloc(26), Buffer.from(name)])

const refusedSource = (problem: string, hint: string) => `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: ${problem}
      hint: ${hint}
      failed: 6 models, 1 error, 0 warnings`

const refused = (
  id: string,
  mistake: string,
  bytes: string | Uint8Array,
  problem: string,
  hint: string,
  more: readonly string[] = [],
): Mistake => ({
  ...inSource(id, mistake, read('data/t.csv', { 'data/t.csv': bytes }, more), ['check']),
  answer: refusedSource(problem, hint),
  exitCode: 1,
  grade: 'A',
})

const ofService = (file: string) =>
  `it may be the error of a service: get the file again; if it has the rows, name it ${file}`

const sources: readonly Mistake[] = [
  refused(
    's5',
    'a login page',
    '\n<!DOCTYPE html>\n<html><body>Log in, please</body></html>\n',
    'data/t.csv is HTML',
    'it may be a login page: get the file again, signed in',
  ),
  refused(
    's5-json',
    'the error of a service',
    '{"error":{"code":401,"message":"x"}}',
    'data/t.csv is JSON',
    ofService('data/t.json, and so in eider.yml'),
  ),
  refused(
    's5-long',
    'JSON of many lines',
    `[\n${'  {"id": 1},\n'.repeat(10_000)}  {"id": 2}\n]\n`,
    'data/t.csv is JSON',
    ofService('data/t.json, and so in eider.yml'),
  ),
  refused(
    's5-xml',
    'the error of a store',
    '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
    'data/t.csv is XML',
    'get or save the data as CSV',
  ),
  refused(
    's2',
    'gzip that is named .csv',
    gzipSync('id,v\n1,2\n'),
    'data/t.csv is gzip',
    'name it data/t.csv.gz, and so in eider.yml',
  ),
  refused(
    's2-said',
    'the same, said to be UTF-16',
    gzipSync('id,v\n1,2\n'),
    'data/t.csv is gzip',
    'name it data/t.csv.gz, and so in eider.yml',
    ['csv: {encoding: utf-16}'],
  ),
  refused('s2-zip', 'an archive', zipped('t.csv'), 'data/t.csv is a ZIP archive', 'unpack it'),
  refused(
    's30',
    'a workbook that is named .csv',
    zipped('xl/workbook.xml'),
    'data/t.csv is an Excel workbook',
    'name it data/t.xlsx, and so in eider.yml',
  ),
  refused(
    's30-old',
    'an old workbook that is named .csv',
    Buffer.from('d0cf11e0a1b11ae10000', 'hex'),
    'data/t.csv is an old Excel workbook (.xls)',
    'save it as .xlsx or as CSV',
  ),
  refused(
    's17',
    'a merge conflict',
    `id\n1\n${conflict}`,
    'data/t.csv:3 has an unresolved merge conflict',
    resolve.replace('hint: ', ''),
  ),
]

const right: readonly Mistake[] = [
  {
    ...inSource(
      's5-lines',
      'lines of JSON that are meant as texts',
      read('data/t.csv', { 'data/t.csv': '{"a":1}\n{"a":2}\n' }, [
        `csv: {header: false, delimiter: '|', quote: ''}`,
      ]),
      query,
      [run],
    ),
    answer: `
      column0
      "{""a"":1}"
      "{""a"":2}"`,
    grade: 'A',
  },
  {
    ...inSource(
      's5-cell',
      'a header whose first name is an object',
      read('data/t.csv', { 'data/t.csv': '{"a":1}|v\n{"a":2}|3\n' }),
      ['check'],
    ),
    answer: 'ok: 6 models, 0 errors, 0 warnings',
    grade: 'A',
  },
  {
    ...inSource(
      's17-quoted',
      'a text about a merge conflict',
      read('data/t.csv', { 'data/t.csv': `id,v\n1,"${conflict}"\n` }),
      ['check'],
    ),
    answer: 'ok: 6 models, 0 errors, 0 warnings',
    grade: 'A',
  },
  {
    ...inSource(
      's4',
      "the line sep=; of Excel, which is not this file's other sign",
      read('data/t.csv', { 'data/t.csv': '\ufeffsep=;\r\nid;a,b\r\n1;x,y\r\n2;z\r\n' }),
      query,
      [run],
    ),
    answer: `
      id,"a,b"
      1,"x,y"
      2,z`,
    grade: 'A',
  },
  {
    ...inSource(
      's4-pattern',
      'the same in files of a pattern',
      read('data/t-*.csv', {
        'data/t-1.csv': 'sep=;\nid;v\n1;2\n',
        'data/t-2.csv': 'sep=;\nid;v\n3;4\n',
      }),
      ['check'],
    ),
    answer: refusedSource(
      'data/t-1.csv begins with the line sep=;, which is for Excel',
      "remove it, or, if all files have it, read them in a model: FROM read_csv('data/t-*.csv', skip = 1, delim = ';')",
    ),
    exitCode: 1,
    grade: 'A',
  },
]

const seed = (
  id: string,
  mistake: string,
  file: string,
  bytes: string | Uint8Array,
  answer: string,
): Mistake => ({
  id,
  mistake,
  files: { [file]: bytes },
  answer: `
      ${file}:${answer}`,
  grade: 'A',
})

const seeds: readonly Mistake[] = [
  seed(
    's4-seed',
    'the line sep=; of Excel in a seed',
    'seeds/ref/t.csv',
    'sep=;\nid;v\n1;2\n',
    `1:1 error seed-row: the first line is sep=;, which is for Excel
      hint: remove it: the header tells which sign parts the values`,
  ),
  seed(
    's5-seed',
    'the error of a service as a seed',
    'seeds/ref/t.csv',
    '{"error":{"code":401,"message":"x"}}',
    `1:1 error unreadable-file: the file is JSON
      hint: ${ofService('.json')}`,
  ),
  seed(
    's30-seed',
    'a workbook as a seed that is named .csv',
    'seeds/ref/t.csv',
    zipped('xl/workbook.xml'),
    `1:1 error unreadable-file: the file is an Excel workbook
      hint: save the sheet as CSV`,
  ),
  seed(
    's17-seed',
    'a merge conflict in a seed of one column',
    'seeds/ref/t.csv',
    `id\n1\n${conflict}`,
    `3:1 error merge-conflict: an unresolved merge conflict
      ${resolve}`,
  ),
  seed(
    's17-json',
    'a merge conflict in a seed of JSON',
    'seeds/ref/t.json',
    '[\n<<<<<<< HEAD\n{"id":"1\\" x"}\n=======\n{"id":2}\n>>>>>>> x\n]\n',
    `2:1 error merge-conflict: an unresolved merge conflict
      ${resolve}`,
  ),
]

const database = (id: string, mistake: string, path: string, answer: string): Mistake => ({
  id,
  mistake,
  files: {
    'eider.yml': `name: shop\nsources:\n  f:\n    database: ${path}\n    tables: {t: }\n`,
    'models/core/t.sql': 'SELECT * FROM f.t\n',
  },
  answer: `
      eider.yml:3:3 error invalid-source: the source "f" cannot be read: ${answer}`,
  grade: 'A',
})

const databases: readonly Mistake[] = [
  database(
    's1',
    'a directory as a database',
    'models',
    `models is a directory
      hint: name the file of the database`,
  ),
  database(
    's1-url',
    'the URL of a database',
    'duckdb:///data/app.duckdb',
    `duckdb:///data/app.duckdb is a URL
      hint: write the path of the file alone: data/app.duckdb`,
  ),
]

export const rows: readonly Mistake[] = [...sources, ...right, ...seeds, ...databases]
