import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileOne, compileTexts, mistakesOf, modelOf } from '../support/compile-texts.ts'

test('an append model with all that it can say', async () => {
  const model = await compileOne(`-- @kind: append
    -- @incremental: "At" lookback 2 days
    -- @unique_key: ID, part
    -- @on_schema_change: fail
    select 1 as id, 2 as part, date '2024-01-01' as at`)
  if (model.kind !== 'append') throw new Error(model.kind)
  assert.equal(model.watermark, { column: 'at', lookback: '2 days' })
  assert.equal(model.uniqueKey, ['id', 'part'])
  assert.is(model.onSchemaChange, 'fail')
})

test('a merge model, with the defaults and without', async () => {
  const text = (more: string) =>
    `-- @kind: merge\n-- @unique_key: id\n${more}select 1 as id, 2 as v`
  const plain = await compileOne(text(''))
  if (plain.kind !== 'merge') throw new Error(plain.kind)
  const { onDuplicate, deletes, watermark, onSchemaChange } = plain
  assert.equal(
    { onDuplicate, deletes, watermark, onSchemaChange },
    { onDuplicate: { take: 'none' }, deletes: null, watermark: null, onSchemaChange: 'evolve' },
  )
  const full = await compileOne(text('-- @deletes mirror\n-- @on_duplicate latest( V )\n'))
  if (full.kind !== 'merge') throw new Error(full.kind)
  assert.equal(full.onDuplicate, { take: 'latest', column: 'v' })
  assert.is(full.deletes, 'mirror')
  const meant = await compileOne(text('-- @deletes: keep\n'))
  assert.is('deletes' in meant && meant.deletes, 'keep')
  assert.is.not(full.definition, plain.definition)
})

test('readers of a scd2 model see the columns that a run adds', async () => {
  const project = await compileTexts({
    'a.t': '-- @kind: scd2\n-- @unique_key: id\nselect 1 as id -- the end',
    'a.r': 'select id, valid_from, valid_to from a.t where is_current',
  })
  assert.equal(
    modelOf(project, 'a.t').columns.map(({ name, type }) => `${name} ${type}`),
    [
      'id INTEGER',
      'valid_from TIMESTAMP WITH TIME ZONE',
      'valid_to TIMESTAMP WITH TIME ZONE',
      'is_current BOOLEAN',
    ],
  )
  assert.equal(modelOf(project, 'a.r').columns.length, 3)
})

test('a scd2 model, with the defaults and with all that it can say', async () => {
  const text = (more: string) =>
    `-- @kind: scd2\n-- @unique_key: id\n${more}select 1 as id, 2 as v, now() as at`
  const settings = async (more: string) => {
    const model = await compileOne(text(more))
    if (model.kind !== 'scd2') throw new Error(model.kind)
    const { validFrom, compare, deletes, definition } = model
    return { validFrom, compare, deletes, definition }
  }
  const plain = await settings('')
  const { definition } = plain
  assert.equal(plain, { validFrom: null, compare: null, deletes: 'close', definition })
  assert.equal(await settings('-- @deletes: close\n'), plain)
  const full = await settings('-- @valid_from: AT\n-- @compare: V, id\n-- @deletes: keep\n')
  assert.equal(full, { ...full, validFrom: 'at', compare: ['v', 'id'], deletes: 'keep' })
  const definitions = [
    definition,
    ...(await Promise.all(
      ['@valid_from: at', '@compare: v', '@deletes: keep'].map(
        async (line) => (await settings(`-- ${line}\n`)).definition,
      ),
    )),
  ]
  assert.is(new Set(definitions).size, 4)
})

test('tags, owner, texts of columns, and models to wait for', async () => {
  const project = await compileTexts({
    'a.first': `-- @tags: nightly, "Of Sales"
      -- @owner: the sales team
      -- @column "ID": of the order: a number
      -- @column note: free
      -- @depends_on: z.last, A.second
      select 1 as id, 'x' as note from a.second`,
    'a.second': 'select 1 as x',
    'z.last': 'select 1 as x',
  })
  const { tags, owner, columns, dependsOn } = modelOf(project, 'a.first')
  assert.equal(tags, ['nightly', 'Of Sales'])
  assert.is(owner, 'the sales team')
  assert.equal(
    columns.map(({ description }) => description),
    ['of the order: a number', 'free'],
  )
  assert.equal(dependsOn, ['a.second', 'z.last'])
  assert.equal([...project.models.keys()], ['a.second', 'z.last', 'a.first'])
  assert.equal(
    await mistakesOf({ 'a.t': '-- @depends_on: a.nothing\n-- @column y: z\nselect 1 as x' }),
    ['a.t:1:17 unknown-model', 'a.t:2:12 unknown-key-column'],
  )
})

test('what decides the rows is part of the definition, what is done about columns is not', async () => {
  const definition = async (more: string) =>
    (await compileOne(`-- @kind: append\n-- @incremental: ts\n${more}select 1 as ts`)).definition
  const plain = await definition('')
  assert.is(await definition('-- @on_schema_change: fail\n'), plain)
  assert.is.not(await definition('-- @unique_key: ts\n'), plain)
})

test('a rule is what the values of a row follow from, and of the macros those that it calls', async () => {
  const macros = (body: string) => ({
    'macros/m.sql': `create macro used(x) as twice(x) + 1; create macro twice(x) as ${body}; create macro other(x) as x;`,
  })
  const ruleOf = async (more: string, macro = macros('x * 2'), select = 'select used(1) as ts') => {
    const text = `-- @kind: append\n-- @incremental: ts\n${more}${select}`
    const { models, errors } = await compileTexts({ 'mart.t': text, ...macro })
    assert.equal(errors, [])
    const [model] = models.values()
    return model?.kind === 'append' ? model.rule : null
  }
  const rule = await ruleOf('')
  const keeps = '-- @check: ts > 0\n-- @expose ts\n-- @description: new\n-- @unique_key: ts\n'
  assert.is(await ruleOf(keeps), rule)
  assert.is(await ruleOf('', macros('x * 2'), 'SELECT\n  used(1) AS ts -- comment'), rule)
  const unused = { 'macros/m.sql': `${macros('x * 2')['macros/m.sql']} create macro more(x) as 9;` }
  assert.is(await ruleOf('', unused), rule)
  assert.is.not(await ruleOf('', macros('x * 3')), rule)
  assert.is.not(await ruleOf('', macros('x * 2'), 'select used(2) as ts'), rule)
})

test.run()
