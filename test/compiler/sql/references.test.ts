import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileTexts, mistakesOf, modelOf } from '../../support/compile-texts.ts'

const base = {
  'raw.s': 'select 1 as id, 2 as v',
  'raw.t': 'select 1 as id, 3 as w',
  'raw."x y"': 'select 1 as id',
}

async function readsOf(text: string, more: Readonly<Record<string, string>> = {}) {
  return modelOf(await compileTexts({ ...base, ...more, 'z.model': text }), 'z.model').dependsOn
}

test('a column with the name of a function is no call', async () => {
  const base = { 'a.b': '-- @kind: events\nversion INTEGER,\nuuid UUID,\ntoday DATE' }
  const text = 'SELECT version, uuid, today FROM a.b'
  assert.is(modelOf(await compileTexts({ ...base, 'z.model': text }), 'z.model').volatile, false)
})

test('what a model reads of its surroundings makes it volatile', async () => {
  const isVolatile = async (text: string) =>
    modelOf(await compileTexts({ ...base, 'z.model': text }), 'z.model').volatile
  for (const text of [
    `select current_setting('TimeZone') as zone`,
    `select version() as v`,
    `select filename, last_modified from read_text('*.none')`,
    `from read_blob('*.none')`,
    `select t.* from read_text('*.none') t`,
    `select f.last_modified from raw.s, read_text('*.none') f`,
  ])
    assert.is(await isVolatile(text), true, text)
  for (const text of [
    `select content from read_text('*.none')`,
    `select count(*) as n from read_blob('*.none')`,
    `select s.* from raw.s`,
  ])
    assert.is(await isVolatile(text), false, text)
})

test('models in every position of a query, in order of first mention', async () => {
  for (const text of [
    'select s.id from raw.s s join raw.t using (id)',
    'from raw.s natural join raw.t',
    'from raw.s positional join raw.t',
    'select * from raw.s asof join raw.t on s.id >= t.id',
    'from raw.s, lateral (select * from raw.t where t.id = s.id)',
    'select (select max(v) from raw.s) as a where exists (from raw.t)',
    'select id from raw.s where id in (select id from raw.t)',
    'select id from raw.s order by (select max(w) from raw.t)',
    'select id from raw.s limit (select count(*) from raw.t)',
    'select v from raw.s union all select w from raw.t',
    'with a as (with b as (select v from raw.s) select * from b) select * from a, raw.t',
    'select * from (pivot raw.s on id in (1, 2) using sum(v)), raw.t',
    'with p as (pivot raw.s on id using sum(v)) select p.* from p, raw.t',
    'from (describe raw.s), (summarize raw.t)',
    `select columns('v|w') from raw.s, raw.t`,
    `from query_table('raw.s'), query_table(['"raw"."t"'])`,
    'from Raw.S, RAW."t"',
  ])
    assert.equal(await readsOf(text), ['raw.s', 'raw.t'], text)
})

test('a common table expression hides nothing but bare names', async () => {
  assert.equal(await readsOf('with s as (select id from raw.t) select * from s'), ['raw.t'])
  assert.equal(await readsOf('with s as (select id from raw.s) select * from s'), ['raw.s'])
  assert.equal(await readsOf('with S as (select 1 as id) select * from "s"'), [])
  assert.equal(await readsOf('with s as (select 1 as id) select * from raw.s'), ['raw.s'])
  const nested = 'with a as (select 1 as x) from (with b as (from a) select * from b, raw.t)'
  assert.equal(await readsOf(nested), ['raw.t'])
})

test('recursive common table expressions see themselves', async () => {
  const counting =
    'with recursive n as (select 1 as i union all select i + 1 from n, raw.s where i < 3) from n'
  assert.equal(await readsOf(counting), ['raw.s'])
  const keyed = `with recursive n(i, j) using key (i) as
    (select 1, 2 union select i + 1, j from n where i < (select count(*) from recurring.n)) from n`
  assert.equal(await readsOf(keyed), [])
})

test('a name that ends its scope is unknown outside', async () => {
  assert.equal(await mistakesOf({ ...base, 'z.m': 'from (with b as (from raw.s) from b), b' }), [
    'z.m:1:39 unknown-model',
  ])
  const early = 'with a as (from b), b as (select 1 as x) from a'
  assert.equal(await mistakesOf({ 'z.m': early }), ['z.m:1:17 unknown-model'])
})

test('macros pass on the models that they are given', async () => {
  const macros = {
    'macros/m.sql': `create macro newest(t) as table from latest(t);
      create macro latest(t) as table select * from query_table(t) order by id desc limit 1;
      create macro twice(a) as a * 2;`,
  }
  assert.equal(await readsOf(`select twice(v) as v from newest('raw.s')`, macros), ['raw.s'])
  const compiled = await compileTexts({ ...macros, 'a.b': 'select twice(4) as x' })
  assert.equal(
    compiled.macros.map(({ name }) => name),
    ['latest', 'twice', 'newest'],
  )
})

test('what a model reads apart from models', async () => {
  const facts = async (text: string, more = {}) => {
    const { files, volatile } = modelOf(
      await compileTexts({ ...base, ...more, 'z.m': text }),
      'z.m',
    )
    return [...files, ...(volatile ? ['volatile'] : [])].join(' ')
  }
  assert.is(await facts('select v + 1 as v from raw.s, range(3), unnest([1])'), '')
  for (const call of [
    'now()',
    'random()',
    'uuid()',
    'current_timestamp',
    'CURRENT_DATE',
    'today()',
    'localtimestamp',
    `age(timestamp '2024-01-01')`,
    `ago(interval 1 day)`,
    `(select count(*) from information_schema.tables)`,
    '(select count(*) from duckdb_tables())',
    '(select count(*) from duckdb_views)',
    '(select count(*) from pg_catalog.pg_class)',
    '(select max(v) from raw.s using sample 1 rows)',
  ])
    assert.is(await facts(`select ${call} as x`), 'volatile', call)
  assert.is(await facts(`select age(timestamp '2024-01-01', timestamp '2024-01-02') as x`), '')
  assert.is(await facts('select * from raw.s tablesample reservoir(1) repeatable (7)'), '')
  const clock = { 'macros/m.sql': 'create macro clock() as now();' }
  assert.is(await facts('select clock() as x', clock), 'volatile')
  assert.is(await facts('pivot raw.s on id using sum(v)'), '')
})

test.run()
