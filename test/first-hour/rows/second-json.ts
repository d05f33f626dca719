// JSON as it comes from others, of which values or rows became others without a word.

import { inSource, read, run } from '../in-source.ts'
import type { Mistake } from '../mistake.ts'

const query = ['query', '--format', 'csv', 'SELECT * FROM core.t ORDER BY ALL']

const ids = '{"id":110169484474386276334}\n{"id":110169484474386276335}\n'

const lost = (file: string, value: string, columns: string) => `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: ${file}: the column "id" has ${value}, which would lose digits: DuckDB reads it as DOUBLE
      hint: read the file in a model, with all of its columns, this one as text: FROM read_json('${file}', columns = {${columns}})`

export const rows: readonly Mistake[] = [
  {
    ...inSource('s7', 'ids beyond BIGINT', read('data/t.json', { 'data/t.json': ids }), ['check']),
    answer: `${lost('data/t.json', '110169484474386276334', "id: 'VARCHAR'")}
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      's7-fraction',
      'a long number beside a fraction, in a field of a list, in the second file of a pattern',
      read('data/t-*.ndjson', {
        'data/t-1.ndjson': '{"n":1,"id":[{"a b":1.5,"n":9007199254740993}]}\n',
        'data/t-2.ndjson': '{"n":2,"id":[{"a b":-9007199254740993,"n":1}]}\n',
      }),
      ['check'],
    ),
    answer: `${lost('data/t-*.ndjson', '-9007199254740993', `n: 'BIGINT', id: 'STRUCT("a b" VARCHAR, "n" BIGINT)[]'`)}
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      's7-late',
      'a long number behind the rows that a compile looks at',
      read('data/t.ndjson', {
        'data/t.ndjson': `${'{"id":1.5}\n'.repeat(21_000)}{"id":9007199254740993}\n`,
      }),
      run,
    ),
    answer: `
      eider.yml:5:7 error core.t: the source "f.t" cannot be read: data/t.ndjson: the column "id" has 9007199254740993, which would lose digits: DuckDB reads it as DOUBLE; read the file in a model, with all of its columns, this one as text: FROM read_json('data/t.ndjson', columns = {id: 'VARCHAR'})
      failed core.t eider.yml:5:7: the source "f.t" cannot be read: data/t.ndjson: the column "id" has 9007199254740993, which would lose digits: DuckDB reads it as DOUBLE; read the file in a model, with all of its columns, this one as text: FROM read_json('data/t.ndjson', columns = {id: 'VARCHAR'})
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    ...inSource(
      's7-text',
      'the same, read as the hint says',
      {
        ...read('data/t.json', { 'data/t.json': ids }),
        'models/core/t.sql': "SELECT * FROM read_json('data/t.json', columns = {id: 'VARCHAR'})\n",
        'eider.yml': 'name: shop\n',
      },
      query,
      [run],
    ),
    answer: `
      id
      110169484474386276334
      110169484474386276335`,
    grade: 'A',
  },
  {
    ...inSource(
      's7-held',
      'numbers that a DOUBLE holds, as JavaScript and C write them',
      read('data/t.json', {
        'data/t.json':
          '[{"v":1.5},{"v":123456789012345680000},{"v":123456789012345683968},{"v":1e300}]',
      }),
      ['check'],
    ),
    answer: 'ok: 6 models, 0 errors, 0 warnings',
    grade: 'A',
  },
  {
    id: 's7-seed',
    mistake: 'ids beyond BIGINT in a seed, with a type that comes too late',
    files: { 'seeds/ref/t.json': ids, 'seeds/ref/t.yml': 'columns: {id: HUGEINT}\n' },
    ask: { eider: ['check'] },
    answer: `
      seeds/ref/t.json:1:1 error seed-row: the column "id" has 110169484474386276334, which would lose digits: DuckDB reads it as DOUBLE
      hint: write these numbers in quotes, and declare their type in seeds/ref/t.yml, under columns: id: HUGEINT, or VARCHAR for ids
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 's7-quoted',
    mistake: 'the same in quotes',
    files: {
      'seeds/ref/t.json': ids.replaceAll(/\d+/g, '"$&"'),
      'seeds/ref/t.yml': 'columns: {id: HUGEINT}\n',
    },
    ask: {
      eider: ['query', '--format', 'csv', 'SELECT * FROM ref.t ORDER BY ALL'],
      after: [['run', 'ref.t']],
    },
    answer: `
      id
      110169484474386276334
      110169484474386276335`,
    grade: 'A',
  },
  {
    ...inSource(
      's6',
      'an array behind a byte order mark',
      read('data/t.json', { 'data/t.json': '\ufeff[{"id":1},{"id":2}]' }),
      query,
      [run],
    ),
    answer: `
      id
      1
      2`,
    grade: 'A',
  },
  {
    id: 's6-seed',
    mistake: 'the same in a seed',
    files: {
      'seeds/ref/t.json': '\ufeff\n[{"id":1},{"id":2}]',
      'seeds/ref/t.yml': 'columns: {id: TINYINT}\n',
    },
    ask: {
      eider: ['query', '--format', 'csv', 'SELECT id, typeof(id) AS type FROM ref.t ORDER BY ALL'],
      after: [['run', 'ref.t']],
    },
    answer: `
      id,type
      1,TINYINT
      2,TINYINT`,
    grade: 'A',
  },
  {
    ...inSource(
      's6-pattern',
      'the same in a file of a pattern',
      read('data/t-*.json', {
        'data/t-1.json': '[{"id":1}]',
        'data/t-2.json': '\ufeff[{"id":1},{"id":2}]',
      }),
      ['check'],
    ),
    answer: `
      eider.yml:5:7 error invalid-source: the source "f.t" cannot be read: data/t-2.json begins with a byte order mark, so that its array would be one row
      hint: save it as UTF-8 without a mark (BOM)
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
]
