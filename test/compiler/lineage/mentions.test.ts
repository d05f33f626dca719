// Which names of a query are columns of models. In the expectation `‹ ›` stand around a table, `« »` around a column:
// with `=` where it names an item of a SELECT list, and with `~` after a name of the table itself.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileTexts } from '../../support/compile-texts.ts'

const sources = {
  'raw.o':
    '-- @kind: events\nid integer, amount integer, c_id integer, s struct(a integer), l integer[]',
  'raw.c': '-- @kind: events\nid integer, name varchar',
}

async function marked(text: string): Promise<string> {
  const { mentions } = await compileTexts({ ...sources, 'a.t': text })
  let [shown, end] = ['', 0]
  for (const { source, span, column, isItem, qualifier } of mentions!()) {
    assert.is(source.text, text)
    const name = text.slice(span.start, span.end)
    if (column !== null) assert.is(name.replaceAll('"', '').toLowerCase(), column)
    const [open, close] = column === null ? ['‹', '›'] : ['«', '»']
    const more = `${isItem ? '=' : ''}${qualifier === undefined ? '' : '~'}`
    shown += `${text.slice(end, span.start)}${open}${name}${more}${close}`
    end = span.end
  }
  return shown + text.slice(end)
}

const cases = [
  'select «id=», «amount» + 1 as more from ‹raw.o› where «amount» > 1',
  'select «Amount» as a, x.«id=» from ‹raw . "o"› x',
  'select o.«id=~», raw.o.«amount=~» from ‹raw.o› where o.«c_id~» = 1 group by all',
  // The name of the list comes first in ORDER BY, and a column of the list is another one from there on.
  'select «id=» from ‹raw.o› order by id, «amount»',
  'with a as (select «id=» from ‹raw.o›) select id from a',
  'with a as (select * from ‹raw.o›) select «id=», a.«amount» as b from a where «c_id» = 1',
  'select «name=» from ‹raw.o› join ‹raw.c› c on c.«id» = o.«c_id~»',
  'select o.«amount=» from ‹raw.o› o join ‹raw.c› using (id)',
  'select «s».a, o.«s».a as b from ‹raw.o› o',
  'select [i + 1 for i in «l»] as m from ‹raw.o›',
  'select 1 as one from ‹raw.o› o where exists (select 1 from ‹raw.c› where «id» = o.«c_id»)',
  'select (select max(«id») from ‹raw.c›) as m, «id» in (select «c_id=» from ‹raw.o›) as b from ‹raw.c›',
  "select 'é' as é, «id=» from ‹raw.o›",
  'select count(*) filter («amount» > 1) over (partition by «c_id») as n from ‹raw.o›',
  'select «id=» from ‹raw.o› union all select «id=» from ‹raw.c› order by id',
  'select columns(*) from ‹raw.o› where «id» = 1',
  'with recursive r(n) as (select «id=» from ‹raw.o› union all select n + 1 from r where n < 2) select n from r',
]

for (const expected of cases)
  test(expected, async () => {
    const text = expected.replaceAll(/[‹›«»]|[=~]+(?=»)/g, '')
    assert.is(await marked(text), expected)
  })

test.run()
