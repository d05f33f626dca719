// When a volatile model is built though nothing that it reads has changed.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rebuiltAgain } from '../../../src/pipeline/plan/volatile.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { modelName } from '../../support/model-name.ts'

const base = { 'raw.s': "select 1 as id, date '2026-01-01' as day" }
const view = '-- @kind: view\n'
const exposed = '-- @expose: id\n'

const SELECTS: Readonly<Record<string, 'daily' | 'always' | null>> = {
  'select id from raw.s': null,
  'select id from raw.s where day > current_date': 'daily',
  'select id from raw.s where day > today() - 7': 'daily',
  'select id, current_date as d, now() as t from raw.s': 'always',
  'select id, random() as r from raw.s': 'always',
  'select id from raw.s using sample 10%': 'always',
  'select id, age(day) as a from raw.s': 'always',
  'select id, since(day) as s from raw.s': 'daily',
  "select id, current_setting('TimeZone') as z from raw.s": 'always',
}

for (const [text, expected] of Object.entries(SELECTS))
  test(`a table of ${text}`, async () => {
    const macros = { 'macros/m.sql': 'create macro since(d) as current_date - d;' }
    const project = await compileTexts({ ...base, ...macros, 'z.model': text })
    assert.is(rebuiltAgain(project, project.models.get(modelName('z.model'))!), expected)
  })

const today = `${view}select id, day from raw.s where day > current_date`
const READERS: Readonly<
  Record<string, readonly [Record<string, string>, 'daily' | 'always' | null]>
> = {
  nobody: [{}, null],
  'a view': [{ 'b.reader': `${view}select id from a.v` }, null],
  'a table': [{ 'b.reader': 'select id from a.v' }, 'daily'],
  'a table behind a view': [
    { 'b.reader': `${view}select id from a.v`, 'c.reader': 'select id from b.reader' },
    'daily',
  ],
  'an exposed view': [{ 'b.reader': `${exposed}${view}select id from a.v` }, 'daily'],
  'a view with a check': [
    { 'b.reader': `-- @check: not_null(id)\n${view}select id from a.v` },
    'daily',
  ],
  'an append model': [
    { 'b.reader': '-- @kind: append\n-- @incremental: day\nselect id, day from a.v' },
    'always',
  ],
  'an append model behind a table': [
    {
      'b.reader': 'select id, day from a.v',
      'c.reader': '-- @kind: append\n-- @incremental: day\nselect id, day from b.reader',
    },
    'always',
  ],
  'a merge model': [
    { 'b.reader': '-- @kind: merge\n-- @unique_key: id\nselect id from a.v' },
    'daily',
  ],
}

for (const [who, [texts, expected]] of Object.entries(READERS))
  test(`a view by the date that is read by ${who}`, async () => {
    const project = await compileTexts({ ...base, 'a.v': today, ...texts })
    assert.equal(project.errors, [])
    assert.is(rebuiltAgain(project, project.models.get(modelName('a.v'))!), expected)
  })

test('columns that depend on the time or on the surroundings are unsure', async () => {
  const variesOf = async (text: string) => {
    const project = await compileTexts({ ...base, 'z.model': text })
    const { volatile, varies } = project.models.get(modelName('z.model'))!
    assert.is(volatile, true, text)
    return varies
  }
  for (const text of [
    'select columns(c -> c > current_date::varchar) from raw.s',
    'select r from range(year(current_date)) t(r)',
    'select * from duckdb_tables()',
    "select current_setting('TimeZone') as z, current_date as d",
  ])
    assert.is(await variesOf(text), undefined, text)
  assert.is(await variesOf('select *, current_date as d from raw.s'), 'daily')
})

test.run()
