import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { follow } from '../../../src/compiler/lineage/follow.ts'
import { compileTexts, type Texts } from '../../support/compile-texts.ts'
import { modelName } from '../../support/model-name.ts'

const sources: Texts = {
  'raw.e':
    '-- @kind: events\nid integer, ts timestamptz, seen timestamptz, day date, n integer, note varchar',
  'raw.c': '-- @kind: events\nid integer, name varchar, since date, ts timestamptz',
  'stage.e':
    "-- @kind: view\nselect id, n, ts as happened, date_trunc('hour', ts) as hour from raw.e where n > 0",
  'stage.both': '-- @kind: view\nselect id, ts from raw.e union all select id, ts from raw.c',
  'core.days': '-- @kind: table\nselect day, count(*) as n from raw.e group by day',
}

/** `model.column step …` of what is followed, and after `|` what is not. */
async function followedBy(text: string, column: string): Promise<string> {
  const project = await compileTexts({ ...sources, 'a.t': text })
  const model = project.models.get(modelName('a.t'))!
  const { followed, others, looksAround } = follow(project, model, column)
  const texts = followed.map(({ model: name, column: of, steps }) =>
    [`${name}.${of}`, ...steps.flatMap((step) => Object.values(step))].join(' '),
  )
  const rest = others.map(({ name, because }) => `${name} ${because}`)
  return [...texts.toSorted(), '|', ...rest.toSorted(), ...(looksAround ? ['around'] : [])].join(
    ', ',
  )
}

const cases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a column as it is': {
    'select id, ts from raw.e': 'raw.e.ts, |',
    'select * from raw.e where n > 1': 'raw.e.ts, |',
    'select e.* replace (n + 1 as n) from raw.e e': 'raw.e.ts, |',
    'with x as (select id, ts as t from raw.e) select id, t as ts from x': 'raw.e.ts, |',
    'select ts, count(*) as c from raw.e group by ts': 'raw.e.ts, |',
    'select distinct ts from raw.e': 'raw.e.ts, |',
    'select id, happened as ts from stage.e': 'raw.e.ts, |',
    'select id, ts from stage.both': 'raw.c.ts, raw.e.ts, |',
  },
  'cut to a unit of time': {
    "select date_trunc('day', ts) as ts, sum(n) as s from raw.e group by 1": 'raw.e.ts day, |',
    'select ts::date as ts from raw.e': 'raw.e.ts DATE, |',
    'select cast(ts as timestamp)::date as ts from raw.e': 'raw.e.ts TIMESTAMP DATE, |',
    "select time_bucket(interval '15 minutes', ts) as ts from raw.e": 'raw.e.ts 15 minutes, |',
    'select time_bucket(interval 15 minute, ts) as ts from raw.e': 'raw.e.ts 15 minutes, |',
    'select time_bucket(interval (2) weeks, ts) as ts from raw.e': 'raw.e.ts 2 weeks, |',
    'select time_bucket(to_days(n), ts) as ts from raw.e': '|, raw.e no-column',
    "select (ts AT TIME ZONE 'Europe/Oslo')::date as ts from raw.e": 'raw.e.ts Europe/Oslo DATE, |',
    'select hour::date as ts from stage.e': 'raw.e.ts hour DATE, |',
  },
  'values that say nothing of the order': {
    "select ts + interval '1 day' as ts from raw.e": '|, raw.e no-column',
    'select max(ts) as ts, id from raw.e group by id': '|, raw.e no-column',
    'select coalesce(ts, seen) as ts from raw.e': '|, raw.e no-column',
    'select n::decimal(10, 1)::integer as ts from raw.e': '|, raw.e no-column',
    'select note::date as ts from raw.e': '|, raw.e no-column',
    'select ts::varchar as ts from raw.e': '|, raw.e no-column',
    'select date_trunc(note, ts) as ts from raw.e': '|, raw.e no-column',
    'select n::date as ts from (select day as n from raw.e)': 'raw.e.day DATE, |',
  },
  'joined tables': {
    'select e.ts, c.name from raw.e e left join raw.c c using (id)': 'raw.e.ts, |, raw.c no-column',
    'select e.ts from raw.e e where id in (select id from raw.c)': 'raw.e.ts, |, raw.c no-column',
    'select e.ts, (select max(name) from raw.c) as m from raw.e e': 'raw.e.ts, |, raw.c no-column',
    'select ts, e.n, c.name from raw.e e join raw.c c using (ts)': 'raw.c.ts, raw.e.ts, |',
    'select e.ts, e.n, c.name from raw.e e left join raw.c c using (ts)': 'raw.c.ts, raw.e.ts, |',
    'select c.ts, e.n from raw.e e join raw.c c using (ts)': 'raw.c.ts, raw.e.ts, |',
    'select c.ts, e.n from raw.e e join raw.c c using (ts, id)': 'raw.c.ts, raw.e.ts, |',
    'select e.ts::date as ts, d.n from raw.e e join core.days d on d.day = e.ts::date':
      'core.days.day, raw.e.ts DATE, |',
    'select ts::date as ts, sum(d.n) as n from raw.e e left join core.days d on e.ts::date = d.day group by 1':
      'core.days.day, raw.e.ts DATE, |',
    "select date_trunc('day', e.ts) as ts from raw.e e join core.days d on date_trunc('hour', e.ts) = d.day":
      'raw.e.ts day, |, core.days no-column',
    'select e.ts::date as ts from raw.e e left join core.days d on d.day = e.seen::date':
      'raw.e.ts DATE, |, core.days no-column',
    'select e.ts, c.name from raw.e e left join raw.c c on c.ts = e.ts and c.id = e.id':
      'raw.c.ts, raw.e.ts, |',
    'select e.ts, c.name from raw.e e, raw.c c where c.ts = e.ts': 'raw.c.ts, raw.e.ts, |',
    'select d.day as ts, e.n from core.days d left join raw.e e on e.ts::date = d.day':
      'core.days.day, raw.e.ts DATE, |',
    "select r.ts, e.n from (select unnest(generate_series(date '2026-01-01', date '2026-02-01', interval 1 day))::date as ts) r left join raw.e e on e.day = r.ts":
      'raw.e.day, |',
    'select e.ts from raw.e e join raw.c c on c.ts > e.ts': 'raw.e.ts, |, raw.c no-column',
    'select e.ts, c.name from raw.e e asof join raw.c c using (id, ts)':
      'raw.e.ts, |, raw.c no-column, around',
    'select ts, c.name from raw.e e asof join raw.c c using (id, ts)':
      '|, raw.c no-column, raw.e no-column, around',
    'select e.ts, c.name from raw.e e asof join raw.c c on e.id = c.id and e.ts >= c.ts':
      'raw.e.ts, |, raw.c no-column, around',
    'select e.ts from raw.e e positional join raw.c c': 'raw.e.ts, |, raw.c no-column, around',
    'select e.ts from raw.e e join raw.c d on d.id = e.id left join core.days b on d.ts = e.ts':
      'raw.e.ts, |, core.days no-column, raw.c no-column',
    'select e.ts from raw.e e join raw.c d on d.id = e.id join core.days b on d.ts = e.ts':
      'raw.c.ts, raw.e.ts, |, core.days no-column',
  },
  'a table that is read twice': {
    'select a.ts, b.n from raw.e a join raw.e b on a.id = b.id': 'raw.e.ts, |, raw.e no-column',
    'with x as (select id, ts, n from raw.e) select a.ts, b.n from x a join x b on a.id = b.id':
      'raw.e.ts, |, raw.e shared',
  },
  'rows that others decide': {
    'select ts, sum(n) over (partition by id order by ts) as s from raw.e': 'raw.e.ts, |, around',
    'select distinct on (id) id, ts from raw.e order by ts': 'raw.e.ts, |, around',
    'select ts from raw.e limit 5': 'raw.e.ts, |, around',
    'select ts from raw.e limit 10%': 'raw.e.ts, |, around',
    'with recursive r as (select id, ts from raw.c union all select e.id, e.ts from raw.e e join r on e.n = r.id) select ts from r':
      '|, raw.c no-column, raw.e no-column, around',
  },
  'what is outside': {
    "select e.ts, f.content from raw.e e, read_text('*.txt') f": 'raw.e.ts, |, *.txt outside',
  },
}

for (const [name, queries] of Object.entries(cases))
  test(name, async () => {
    for (const [text, expected] of Object.entries(queries)) {
      const header = '-- @kind: append\n-- @incremental: ts\n'
      assert.is(await followedBy(header + text, 'ts'), expected, text)
    }
  })

test.run()
