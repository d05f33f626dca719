// Which columns of a query are columns of what it reads, with the same values under whatever name.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileTexts } from '../../support/compile-texts.ts'
import { modelName } from '../../support/model-name.ts'

const sources = {
  'raw.o': '-- @kind: events\nid integer, c_id integer, note varchar, s struct(a integer)',
  'raw.c': '-- @kind: events\nc_id integer, name varchar',
}

/** `column: origin` for each column that passes on another one. */
async function passedBy(text: string): Promise<readonly string[]> {
  const { models, passed } = await compileTexts({ ...sources, 'a.t': text })
  const origins = passed?.().get(modelName('a.t')) ?? []
  return (models.get(modelName('a.t'))?.columns ?? []).flatMap(({ name }, i) => {
    const origin = origins[i] ?? null
    return origin === null ? [] : [`${name}: ${origin.model}.${origin.column}`]
  })
}

const cases: Readonly<Record<string, readonly string[]>> = {
  'select id, note as text from raw.o': ['id: raw.o.id', 'text: raw.o.note'],
  'select * from raw.c': ['c_id: raw.c.c_id', 'name: raw.c.name'],
  'select o.id, O.C_ID as buyer from raw.o as o': ['id: raw.o.id', 'buyer: raw.o.c_id'],
  'select id + 0 as id, id::varchar as text, upper(note) as note from raw.o': [],
  'select s.a, o.s.a as b, raw.o.s.a as c from raw.o': [],
  'select coalesce(id, 0) as id, max(c_id) as c_id from raw.o group by id': [],
  'select id, count(*) as n from raw.o group by id': ['id: raw.o.id'],
  'select distinct c_id from raw.o': ['c_id: raw.o.c_id'],
  'with x as (select id as a from raw.o) select a as b from x': ['b: raw.o.id'],
  'select b from (select id from raw.o) as x(b)': ['b: raw.o.id'],
  'select c_id, name from raw.o join raw.c using (c_id)': ['c_id: raw.o.c_id', 'name: raw.c.name'],
  'select c_id from raw.o right join raw.c using (c_id)': ['c_id: raw.c.c_id'],
  'select c_id from raw.o full join raw.c using (c_id)': [],
  'select id from raw.o union all select c_id from raw.c': [],
  'select (select max(name) from raw.c) as name from raw.o': [],
  'select * replace (1 as id) from raw.o': ['c_id: raw.o.c_id', 'note: raw.o.note', 's: raw.o.s'],
  '-- @kind: scd2\n-- @unique_key: id\nselect id from raw.o': ['id: raw.o.id'],
}

for (const [text, expected] of Object.entries(cases))
  test(text, async () => assert.equal(await passedBy(text), expected))

test.run()
