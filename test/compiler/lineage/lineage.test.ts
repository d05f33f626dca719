import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileTexts, type Texts } from '../../support/compile-texts.ts'
import { modelName } from '../../support/model-name.ts'

const sources: Texts = {
  'raw.o':
    '-- @kind: events\nid integer, amount integer, c_id integer, note varchar, s struct(a integer, b integer), l integer[]',
  'raw.c': '-- @kind: events\nid integer, name varchar, amount integer',
  'macros/m.sql':
    'create macro twice(x) as x * 2; create macro rows_of(t) as table from query_table(t);',
}

/** `column: origins` for each column of `text`; origins are `table.column` of the schema raw, or `?`. */
async function lineageOf(text: string, more: Texts = {}): Promise<readonly string[]> {
  const { models, lineage } = await compileTexts({ ...sources, ...more, 'a.t': text })
  const all = lineage()
  for (const [name, columns] of all) {
    assert.is(columns.length, models.get(name)?.columns.length, name)
    for (const { model, column } of columns.flatMap((origins) => origins ?? []))
      assert.ok(
        models.get(modelName(model))?.columns.some((known) => known.name === column),
        `${name} is made of ${model}.${column}, which does not exist`,
      )
  }
  const columns = models.get(modelName('a.t'))?.columns ?? []
  return columns.map(({ name }, i) => {
    const origins = all.get(modelName('a.t'))?.[i]
    const texts = origins?.map(({ model, column }) => `${model.replace(/^raw\./, '')}.${column}`)
    return `${name}: ${texts === undefined ? '?' : texts.toSorted().join(' ')}`.trim()
  })
}

const cases: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'names and expressions': {
    'select id, amount + 1 as more from raw.o': ['id: o.id', 'more: o.amount'],
    'select O.Amount as a, raw.o.note from raw.o': ['a: o.amount', 'note: o.note'],
    'select 1 as one, now() as t, current_date as d from raw.o': ['one:', 't:', 'd:'],
    'select case when id > 1 then note else upper(note) end as x from raw.o': ['x: o.id o.note'],
    'select id::varchar || note as k, amount between id and c_id as b from raw.o': [
      'k: o.id o.note',
      'b: o.amount o.c_id o.id',
    ],
    'select amount as id, id as x, x + 1 as y from raw.o': ['id: o.amount', 'x: o.id', 'y: o.id'],
    "select s.a as f, o.s.b as g, s['a'] as h, l[1] as e from raw.o": [
      'f: o.s',
      'g: o.s',
      'h: o.s',
      'e: o.l',
    ],
    'select o as whole from (select id, note from raw.o) o': ['whole: o.id o.note'],
    'select list_transform(l, lambda x: x + id) as p, [x * 2 for x in l if x > amount] as q from raw.o':
      ['p: o.id o.l', 'q: o.amount o.l'],
    'select twice(amount) as t from raw.o': ['t: o.amount'],
    "select {'k': id, 'v': note} as p, [id, c_id] as q from raw.o": [
      'p: o.id o.note',
      'q: o.c_id o.id',
    ],
    'select t.rowid as r from raw.o t': ['r: ?'],
  },
  stars: {
    'from raw.c': ['id: c.id', 'name: c.name', 'amount: c.amount'],
    'select * exclude (amount) from raw.c': ['id: c.id', 'name: c.name'],
    'select * replace (amount + id as amount) from raw.c': [
      'id: c.id',
      'name: c.name',
      'amount: c.amount c.id',
    ],
    'select c.*, o.note from raw.o o, raw.c c': [
      'id: c.id',
      'name: c.name',
      'amount: c.amount',
      'note: o.note',
    ],
    'select * from raw.c c(k, n)': ['k: c.id', 'n: c.name', 'amount: c.amount'],
    "select columns('^a.*') from raw.c": ['amount: ?'],
    "select * like 'a%' from raw.c": ['amount: ?'],
    'select max(columns(*)) from raw.c': ['id: ?', 'name: ?', 'amount: ?'],
    'select * rename (id as k) from raw.c': ['k: ?', 'name: ?', 'amount: ?'],
    'select s.* from raw.o': ['a: ?', 'b: ?'],
  },
  joins: {
    'select c.name, o.amount from raw.o o join raw.c c on c.id = o.c_id': [
      'name: c.name',
      'amount: o.amount',
    ],
    'select id, name, note from raw.o join raw.c using (id)': [
      'id: o.id',
      'name: c.name',
      'note: o.note',
    ],
    'select b.id, amount_c from raw.o a, (select id, amount as amount_c from raw.c) c join raw.o b using (id)':
      ['id: o.id', 'amount_c: c.amount'],
    'select z.note, c.name from raw.o z, raw.c c join raw.c d using (id)': [
      'note: o.note',
      'name: c.name',
    ],
    'select id from raw.o right join raw.c using (id)': ['id: c.id'],
    'select id from raw.o full join raw.c using (id)': ['id: c.id o.id'],
    'select * exclude (s, l) from raw.o left join raw.c using (id)': [
      'id: o.id',
      'amount: o.amount',
      'c_id: o.c_id',
      'note: o.note',
      'name: c.name',
      'amount_1: c.amount',
    ],
    'select id, amount, name from raw.o natural join raw.c': [
      'id: o.id',
      'amount: o.amount',
      'name: c.name',
    ],
    'select * from raw.c semi join raw.o using (id)': [
      'id: c.id',
      'name: c.name',
      'amount: c.amount',
    ],
    'select a.id, b.id as other from raw.c a, raw.c b': ['id: c.id', 'other: c.id'],
    'select c.id, x.top from raw.c c, (select max(o.amount) as top from raw.o o where o.c_id = c.id) x':
      ['id: c.id', 'top: o.amount'],
    'select note, e from raw.o, unnest(l) u(e)': ['note: o.note', 'e: o.l'],
    'select i, v.w from range(3) r(i), (values (1, 2)) v(q, w)': ['i:', 'w:'],
  },
  'groups and windows': {
    'select note, count(*) as n, sum(amount) as total from raw.o group by note': [
      'note: o.note',
      'n:',
      'total: o.amount',
    ],
    'select count(id) filter (where amount > 0) as n from raw.o where c_id = 1 having count(*) > 1':
      ['n: o.amount o.id'],
    'select row_number() over (partition by c_id order by amount) as r from raw.o': [
      'r: o.amount o.c_id',
    ],
    'select sum(amount) over w as r from raw.o window w as (order by id)': ['r: o.amount o.id'],
  },
  'queries in queries': {
    'with c as (select id, amount * 2 as double from raw.o) select double, id from c': [
      'double: o.amount',
      'id: o.id',
    ],
    'with a(k) as (select id from raw.o), b as (select k + 1 as k from a) select b.k from b': [
      'k: o.id',
    ],
    'select (select max(name) from raw.c where id = o.c_id) as n from raw.o o': ['n: c.name'],
    'select id in (select c_id from raw.o) as known from raw.c': ['known: c.id o.c_id'],
    'select exists (select 1 from raw.o where c_id = c.id) as has from raw.c c': ['has: ?'],
    'select x from (select note as x from raw.o) union all select name from raw.c': [
      'x: c.name o.note',
    ],
    'select id, note from raw.o union by name select id, name from raw.c': [
      'id: c.id o.id',
      'note: o.note',
      'name: c.name',
    ],
    'select id from raw.o except select id from raw.c': ['id: o.id'],
    'with recursive r(n, m) as (select id, id from raw.o union all select n + 1, c.amount from r join raw.c c on c.id = n) select n, m from r':
      ['n: o.id', 'm: c.amount o.id'],
    'values (1, 2)': ['col0:', 'col1:'],
  },
  'what is not known': {
    'pivot raw.c on name in (1, 2) using sum(amount)': ['id: ?', '1: ?', '2: ?'],
    'unpivot (select id, amount from raw.c) on amount into name k value v': [
      'id: ?',
      'k: ?',
      'v: ?',
    ],
    'select id, unnest(s) from raw.o': ['id: ?', 'a: ?', 'b: ?'],
    'select id, a from (select id, unnest(s) from raw.o)': ['id: ?', 'a: ?'],
    'select unnest(l) as e, id from raw.o': ['e: o.l', 'id: o.id'],
    'select id, unlist(s) from raw.o': ['id: ?', 'a: ?', 'b: ?'],
    'select unlist(l) as e, id from raw.o': ['e: o.l', 'id: o.id'],
    "select x.id from rows_of('raw.o') x": ['id: ?'],
    "select r.id from query_table('raw.o') r": ['id: ?'],
    "select o.id, p.id as other from raw.o, query_table('raw.c') p": ['id: o.id', 'other: ?'],
  },
}

for (const [title, queries] of Object.entries(cases))
  test(title, async () => {
    for (const [text, expected] of Object.entries(queries))
      assert.equal(await lineageOf(text), expected, text)
  })

test('columns that a run adds are made of none; those of a model are its own for readers', async () => {
  const scd2 = '-- @kind: scd2\n-- @unique_key: id\nselect id, name from raw.c'
  assert.equal(await lineageOf(scd2), [
    'id: c.id',
    'name: c.name',
    'valid_from:',
    'valid_to:',
    'is_current:',
  ])
  assert.equal(await lineageOf('select valid_from, name from a.h', { 'a.h': scd2 }), [
    'valid_from: a.h.valid_from',
    'name: a.h.name',
  ])
})

test('a PIVOT whose tree the engine does not show is unknown', async () => {
  assert.equal(await lineageOf('pivot raw.c on name using sum(amount)'), ['id: ?'])
})

test.run()
