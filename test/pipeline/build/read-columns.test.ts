// An edit of a view or of a table is a rule of those who read what it changes, and of nobody else.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { compileTexts, type Texts } from '../../support/compile-texts.ts'
import { openProject, resultOf, runDefaults } from '../../support/pipeline-project.ts'

const SEED = `-- @kind: table
SELECT * FROM (VALUES (1, 1, 10, 'a'), (2, 2, 20, 'b'), (7, 7, 30, 'c'), (8, 8, 40, 'd')) AS t(id, ts, amount, note)`

const READER = '-- @kind: merge\n-- @unique_key: id\n-- @incremental: ts\n'

/** How many rows a reader says that an older rule has made, once the texts are edited. */
async function olderAfter(before: Texts, after: Texts): Promise<number> {
  await using space = await openProject()
  const run = async (texts: Texts) => {
    const project = await compileTexts({ 'raw.orders': SEED, ...texts })
    const summary = await runPipeline({ ...runDefaults(space.paths), project })
    assert.ok(summary.ok, JSON.stringify(summary.models))
    return resultOf(summary, 'mart.t').older_rows?.rows ?? 0
  }
  assert.is(await run(before), 0)
  const found = await run(after)
  // What is recorded for the rows that were read now is the same for the next run.
  assert.is(await run(after), found)
  return found
}

const view = (select: string, rest = '') =>
  `-- @kind: view\nSELECT ${select} FROM raw.orders AS o ${rest}`

const READ = `${READER}SELECT id, ts, amount AS v FROM stage.v`

const edits: readonly (readonly [
  name: string,
  before: string,
  after: string,
  reader: string,
  older: number,
])[] = [
  ['another column', view("id, ts, amount, 'x' AS x"), view("id, ts, amount, 'y' AS x"), READ, 0],
  ['a new column', view('id, ts, amount'), view('id, ts, amount, upper(note) AS n'), READ, 0],
  [
    'a column less',
    view('id, ts, amount, note'),
    view('id, note IS NULL AS n, ts, amount'),
    READ,
    0,
  ],
  ['the column itself', view('id, ts, amount'), view('id, ts, amount * 2 AS amount'), READ, 3],
  [
    'a filter',
    view('id, ts, amount, note'),
    view('id, ts, amount, note', 'WHERE amount > 0'),
    READ,
    3,
  ],
  [
    'an alias that the filter means',
    view("id, ts, amount, note = '' AS gone", 'WHERE NOT gone'),
    view("id, ts, amount, note = 'a' AS gone", 'WHERE NOT gone'),
    READ,
    3,
  ],
  [
    'an alias that another column means',
    view('1 AS more, id, ts, amount + more AS amount'),
    view('2 AS more, id, ts, amount + more AS amount'),
    READ,
    3,
  ],
  [
    'an aggregate in a query with groups',
    view('id, ts, sum(amount) AS amount, count(*) AS n', 'GROUP BY id, ts'),
    view('id, ts, sum(amount) AS amount, count(*) + 1 AS n', 'GROUP BY id, ts'),
    READ,
    0,
  ],
  [
    'a column of GROUP BY ALL',
    view('id, ts, sum(amount) AS amount, 1 AS n', 'GROUP BY ALL'),
    view('id, ts, sum(amount) AS amount, note AS n', 'GROUP BY ALL'),
    READ,
    3,
  ],
  [
    'a column of GROUP BY by its number',
    view('1 AS n, id, ts, sum(amount) AS amount', 'GROUP BY 1, 2, 3'),
    view('note AS n, id, ts, sum(amount) AS amount', 'GROUP BY 1, 2, 3'),
    READ,
    3,
  ],
  [
    'a column of DISTINCT',
    view('DISTINCT id, ts, amount, 1 AS n'),
    view('DISTINCT id, ts, amount, 2 AS n'),
    READ,
    3,
  ],
  [
    'an unnest, which makes rows',
    view('id, ts, amount, unnest([1]) AS n'),
    view('id, ts, amount, unnest([2]) AS n'),
    READ,
    3,
  ],
  [
    'all columns are read',
    view("id, ts, amount, 'x' AS x"),
    view("id, ts, amount, 'y' AS x"),
    `${READER}SELECT * FROM stage.v`,
    3,
  ],
  [
    'whole rows are read',
    view("id, ts, amount, 'x' AS x"),
    view("id, ts, amount, 'y' AS x"),
    `${READER}SELECT id, ts, hash(v) AS v FROM stage.v`,
    3,
  ],
  [
    'the column is read in a filter',
    view("id, ts, amount, 'x' AS x"),
    view("id, ts, amount, 'y' AS x"),
    `${READ} AS s WHERE s.x <> ''`,
    3,
  ],
  [
    'the column goes by another name',
    view("id, ts, amount, 'x' AS x"),
    view("id, ts, amount, 'y' AS x"),
    `${READER}SELECT a AS id, b AS ts, c AS v FROM stage.v AS t(a, b, c, d) WHERE d <> ''`,
    3,
  ],
  [
    'the column is what a function is called of',
    view('id, ts, note'),
    view('id, ts, upper(note) AS note'),
    `${READER}SELECT id, ts, note.trim() AS v FROM stage.v`,
    3,
  ],
  [
    'another column, where a function is called of one',
    view('id, ts, note, 1 AS x'),
    view('id, ts, note, 2 AS x'),
    `${READER}SELECT id, ts, note.trim() AS v FROM stage.v`,
    0,
  ],
  [
    'with the name of its table before it',
    view('id, ts, note'),
    view('id, ts, upper(note) AS note'),
    `${READER}SELECT id, ts, s.note.trim() AS v FROM stage.v AS s`,
    3,
  ],
  [
    'the column is what an aggregate is called of',
    view('id, ts, amount'),
    view('id, ts, amount * 2 AS amount'),
    `${READER}SELECT id, ts, amount.max() AS v FROM stage.v GROUP BY ALL`,
    3,
  ],
  [
    'a function of a column that another column means',
    view("'a' AS more, id, ts, more.upper() AS amount"),
    view("'b' AS more, id, ts, more.upper() AS amount"),
    READ,
    3,
  ],
  [
    'the last digit of a number of 64 bits',
    view('id, ts, CASE WHEN amount = 1234567890123456781 THEN 0 END AS amount'),
    view('id, ts, CASE WHEN amount = 1234567890123456782 THEN 0 END AS amount'),
    READ,
    3,
  ],
  [
    'the last digit of a number of 128 bits',
    view('id, ts, 123456789012345678901234567890 AS amount'),
    view('id, ts, 123456789012345678901234567891 AS amount'),
    READ,
    3,
  ],
  [
    'the last digit of decimals',
    view('id, ts, 1.234567890123456781 AS amount'),
    view('id, ts, 1.234567890123456782 AS amount'),
    READ,
    3,
  ],
  [
    'an element of a list',
    view('id, ts, [amount, 1] AS list, 1 AS x'),
    view('id, ts, [amount, 2] AS list, 1 AS x'),
    `${READER}SELECT id, ts, [e + 1 FOR e IN list] AS v FROM stage.v`,
    3,
  ],
  [
    'a field of a struct',
    view("id, ts, {'a': 1} AS s, 1 AS x"),
    view("id, ts, {'a': 2} AS s, 1 AS x"),
    `${READER}SELECT id, ts, s.a AS v FROM stage.v`,
    3,
  ],
  [
    'a column of COLUMNS',
    view('id, ts, 1 AS v1'),
    view('id, ts, 2 AS v1'),
    `${READER}SELECT id, ts, COLUMNS('v.') FROM stage.v`,
    3,
  ],
  [
    'a column of a PIVOT',
    view('id, ts, note, 1 AS x'),
    view('id, ts, note, 2 AS x'),
    `${READER}SELECT id, ts, a FROM (PIVOT stage.v ON note IN ('a') USING sum(x))`,
    3,
  ],
]

for (const [name, before, after, reader, older] of edits)
  test(`${name}: ${older} rows`, async () => {
    const texts = (of: string) => ({ 'stage.v': of, 'mart.t': reader })
    assert.is(await olderAfter(texts(before), texts(after)), older)
  })

const through = (note: string, amount: string) => ({
  'stage.a': view(`id, ts, ${amount} AS amount, ${note} AS note`),
  'stage.b': '-- @kind: view\nSELECT id, ts, amount, note AS remark FROM stage.a',
  'mart.t': `${READER}SELECT id, ts, amount AS v FROM stage.b`,
})

test('through another view that passes the column on, which is not read there', async () => {
  assert.is(await olderAfter(through('note', 'amount'), through('upper(note)', 'amount')), 0)
  assert.is(await olderAfter(through('note', 'amount'), through('note', 'amount + 1')), 3)
})

test('of a query that reads all, any column may be meant by the others', async () => {
  const texts = (factor: number) => ({
    'raw.price': SEED.replace('amount', 'price'),
    'stage.v': `-- @kind: view\nSELECT id, ts, price * ${factor} AS gross, gross + price AS total FROM raw.price`,
    'mart.t': `${READER}SELECT id, ts, total AS v FROM stage.v`,
  })
  assert.is(await olderAfter(texts(2), texts(3)), 3)
})

test('of a macro nothing is known, so the whole view counts', async () => {
  const texts = (x: string) => ({
    'macros/m.sql': 'CREATE MACRO most(relation) AS (SELECT max(x) FROM query_table(relation));',
    'stage.v': view(`id, ts, amount, '${x}' AS x`),
    'mart.t': `${READER}SELECT id, ts, most('stage.v') AS v FROM stage.v`,
  })
  assert.is(await olderAfter(texts('a'), texts('b')), 3)
})

test.run()
