// Which functions of one value a table is kept up to date by.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { addressingOf } from '../../../src/compiler/lineage/addresses.ts'
import { compileTexts, modelOf, type Texts } from '../../support/compile-texts.ts'

const INPUT = `-- @kind: events
id INTEGER, ts TIMESTAMP, day DATE, tz TIMESTAMPTZ, name VARCHAR, number DOUBLE, small SMALLINT`

/** What leads to the group of this expression; a text: why nothing does. */
async function leadTo(expression: string, more: Texts = {}): Promise<unknown> {
  const text = `-- @kind: table\nSELECT ${expression} AS v, count(*) AS n FROM raw.o GROUP BY 1`
  const project = await compileTexts({ 'raw.o': INPUT, 'mart.o': text, ...more })
  const { inputs, never } = addressingOf(project, modelOf(project, 'mart.o'))
  if (never !== null) return never.text
  return inputs.map(({ keys }) => keys.map(({ column, steps }) => [column, ...steps])).flat()
}

const KEPT: Readonly<Record<string, readonly unknown[]>> = {
  'year(ts)': ['ts', { call: 'year', with: [] }],
  'year(tz)::INTEGER': ['tz', { call: 'year', with: [] }, { cast: 'INTEGER' }],
  'extract(month FROM day)': ['day', { call: 'month', with: [] }],
  "date_part('YEAR', ts)": ['ts', { call: 'year', with: [] }],
  "strftime(ts, '%Y-%m')": ['ts', { call: 'strftime', with: ['%Y-%m'] }],
  "strftime(date_trunc('month', ts), '%m')": [
    'ts',
    { trunc: 'month' },
    { call: 'strftime', with: ['%m'] },
  ],
  'lower(trim(name))': ['name', { call: 'trim', with: [] }, { call: 'lower', with: [] }],
  'substr(name, 2, 3)': ['name', { call: 'substr', with: [2, 3] }],
  "coalesce(name, '-')": ['name', { otherwise: '-' }],
  "ifnull(upper(name), '')": ['name', { call: 'upper', with: [] }, { otherwise: '' }],
  'lower(number::VARCHAR)': ['number', { cast: 'VARCHAR' }, { call: 'lower', with: [] }],
}

for (const [expression, expected] of Object.entries(KEPT))
  test(`by ${expression}`, async () => {
    assert.equal(await leadTo(expression), [expected])
  })

const NOTHING = [
  'substr(name, small)',
  "coalesce(name, strftime(ts, '%Y'))",
  "coalesce(name, NULL, '-')",
  'coalesce(small, 7)',
  "date_part('epoch', ts)",
  'concat(name, day)',
  'round(number)',
  "strftime('%Y', ts)",
]

for (const expression of NOTHING)
  test(`not by ${expression}`, async () => {
    assert.is(
      await leadTo(expression),
      'no column says which rows of raw.o a row is made of',
      expression,
    )
  })

test('a macro of the name of such a function is called in its place', async () => {
  const macros = { 'macros/a.sql': "CREATE MACRO lower(x) AS x || '!'" }
  assert.is(
    await leadTo('lower(name)', macros),
    'the macro lower, which has the name of a function',
  )
  assert.equal(await leadTo('upper(name)', macros), [['name', { call: 'upper', with: [] }]])
})

for (const [macro, expression] of [
  ['date_part(p, x)', 'extract(year FROM ts)'],
  ['year(x)', "date_part('year', ts)"],
])
  test(`a macro ${macro} is called for ${expression}, or in the place of what that is called by`, async () => {
    const macros = { 'macros/a.sql': `CREATE MACRO ${macro} AS 2000` }
    const [name] = macro!.split('(')
    const never = `the macro ${name}, which has the name of a function`
    assert.is(await leadTo(expression!, macros), never)
  })

test.run()
