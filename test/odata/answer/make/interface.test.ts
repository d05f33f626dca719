// What $metadata says to programs that draw any set by it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../../src/core/limits.ts'
import type { Shown } from '../../../../src/core/relation.ts'
import { columnType } from '../../../../src/core/relation.ts'
import type { Meaning } from '../../../../src/core/meaning.ts'
import { csdlJson, csdlXml } from '../../../../src/odata/answer/make/csdl.ts'
import { buildEntityModel } from '../../../../src/odata/edm/entity-model.ts'
import { wordsOf } from '../../../../src/odata/edm/words.ts'
import { fileRows } from '../../../../src/store/files/rows.ts'
import { modelName } from '../../../support/model-name.ts'

interface Described {
  readonly key?: readonly string[]
  /** Name and type, and what is said of it. */
  readonly columns: readonly (readonly [string, string, (Shown & { readonly text?: string })?])[]
  readonly meaning?: Meaning
}

function modelOf(sets: Readonly<Record<string, Described>>) {
  const relations = Object.entries(sets).map(([name, { key = [], columns, meaning }]) => ({
    model: modelName(name),
    file: 'x.duckdb',
    bytes: 1,
    rows: 1,
    key,
    description: null,
    columns: columns.map(([column, type, said]) => {
      return { name: column, type: columnType(type), nullable: true, ...said }
    }),
    ...(meaning === undefined ? {} : { meaning }),
  }))
  const snapshot = { id: 's', publishedAt: new Date(0), runId: 'r', relations }
  const facts = { stored: fileRows, signedTinyints: new Map(), clampedTimes: new Map() }
  return buildEntityModel(snapshot, facts)
}

interface Drawn {
  readonly title: string | undefined
  readonly below: string | undefined
  readonly names: readonly [one: string, many: string]
  readonly filters: readonly string[]
  readonly columns: readonly string[]
  readonly fields: readonly string[]
  readonly sections: readonly string[]
  readonly chart: Readonly<Record<string, unknown>> | undefined
  readonly variant: Readonly<Record<string, unknown>>
}

interface Field {
  readonly Value: { readonly $Path: string }
}

/** The annotations of each set in a few words. */
function drawn(sets: Readonly<Record<string, Described>>): Readonly<Record<string, Drawn>> {
  const { eider } = JSON.parse([...csdlJson(modelOf(sets), '4.01')].join(''))
  const path = (field: Field | undefined) => field?.Value.$Path
  return Object.fromEntries(
    Object.keys(eider.Default)
      .filter((name) => !/^[$@]/.test(name))
      .map((name) => {
        const said = eider[name]
        const header = said['@UI.HeaderInfo']
        return [
          name,
          {
            title: path(header.Title),
            below: path(header.Description),
            names: [header.TypeName, header.TypeNamePlural],
            filters: said['@UI.SelectionFields'],
            columns: said['@UI.LineItem'].map(path),
            fields: said['@UI.Identification'].map(path),
            sections: said['@UI.Facets'].map(
              (one: Readonly<Record<string, string>>) => `${one['Label']}: ${one['Target']}`,
            ),
            chart: said['@UI.Chart'],
            variant: said['@UI.PresentationVariant'],
          },
        ]
      }),
  )
}

const NO_ANNOTATION = { measures: [], dimensions: [], time: null }
const measure = (name: string, type: string) => ({
  name,
  text: 'sum(amount)',
  sql: 'sum(amount)',
  type: columnType(type),
  columns: [],
})

test('a name is read as words', () => {
  const words = {
    ordered_at: 'Ordered at',
    customer_id: 'Customer ID',
    customerId: 'Customer ID',
    VAT_rate: 'VAT rate',
    unitPriceEUR: 'Unit price EUR',
    _: '_',
    été_passé: 'Été passé',
    a1b2: 'A1b2',
  }
  for (const [name, text] of Object.entries(words)) assert.is(wordsOf(name), text)
})

test('a set without a word about it has a title, columns, fields and filters', () => {
  const { shop_customers: customers, shop_orders: orders } = drawn({
    'shop.customers': {
      key: ['customer_id'],
      columns: [
        ['customer_id', 'INTEGER'],
        ['name', 'VARCHAR'],
        ['place', 'STRUCT(city VARCHAR)'],
        ['photo', 'BLOB'],
        ['tags', 'VARCHAR[]'],
        ['vip', 'BOOLEAN'],
        ['score', 'DOUBLE'],
      ],
    },
    'shop.orders': {
      key: ['order_id'],
      columns: [
        ['order_id', 'INTEGER'],
        ['customer_id', 'INTEGER'],
        ['state', "ENUM('open', 'paid')"],
        ['ordered_at', 'TIMESTAMP'],
        ['amount', 'DECIMAL(18,2)'],
      ],
    },
  })
  assert.equal(customers, {
    title: 'name',
    below: 'customer_id',
    names: ['Customer', 'Customers'],
    filters: ['vip', 'name', 'customer_id'],
    columns: ['customer_id', 'name', 'vip', 'score'],
    fields: ['customer_id', 'name', 'vip', 'score'],
    sections: ['Customer: @UI.Identification', 'Orders: orders/@UI.LineItem'],
    chart: undefined,
    variant: { Visualizations: ['@UI.LineItem'] },
  })
  assert.equal(
    [orders!.title, orders!.below, orders!.filters],
    ['order_id', undefined, ['state', 'ordered_at', 'customer_id', 'order_id']],
  )
  assert.equal(orders!.sections, ['Order: @UI.Identification'])
})

test('the key is the title wherever it stands, and the first column of a set without one', () => {
  const columns = [
    ['amount', 'INTEGER'],
    ['id', 'INTEGER'],
  ] as const
  const { m_a: keyed, m_b: keyless } = drawn({
    'm.a': { key: ['id'], columns },
    'm.b': { columns },
  })
  assert.equal([keyed!.title, keyless!.title], ['id', 'amount'])
})

test('what a model says of its columns and measures comes first', () => {
  const { m_sales: sales } = drawn({
    'm.sales': {
      key: ['sale'],
      columns: [
        ['sale', 'INTEGER', { text: 'sale_text' }],
        ['sale_text', 'VARCHAR'],
        ['country', 'VARCHAR', { text: 'country_name' }],
        ['country_name', 'VARCHAR'],
        ['amount', 'DECIMAL(18,2)', { unit: 'Currency' }],
        ['currency', 'VARCHAR'],
        ['day', 'DATE'],
      ],
      meaning: {
        measures: [measure('last_day', 'DATE'), measure('revenue', 'DECIMAL(38,2)')],
        dimensions: ['country'],
        time: 'day',
      },
    },
  })
  assert.equal([sales!.title, sales!.below], ['sale_text', 'sale'])
  assert.equal(sales!.filters.slice(0, 2), ['country', 'day'])
  // The texts of others and their units are shown with them.
  assert.equal(sales!.columns, ['sale', 'sale_text', 'country', 'amount', 'day'])
  assert.equal(sales!.fields.length, 7)
  assert.equal(sales!.chart, {
    Title: 'Revenue',
    ChartType: 'Line',
    Dimensions: ['day'],
    DynamicMeasures: ['/eider.Default/m_sales@Org.OData.Aggregation.V1.CustomAggregate#revenue'],
  })
  assert.equal(sales!.variant, {
    SortOrder: [{ Property: 'day', Descending: true }],
    Visualizations: ['@UI.LineItem', '@UI.Chart'],
  })
})

test('a rollup is drawn without its key, and its chart by its own columns', () => {
  const { m_by_month: rollup } = drawn({
    'm.by_month': {
      key: ['id'],
      columns: [
        ['id', 'VARCHAR'],
        ['month', 'TIMESTAMP'],
        ['country', 'VARCHAR'],
        ['revenue', 'DECIMAL(38,2)'],
      ],
      meaning: {
        measures: [measure('revenue', 'DECIMAL(38,2)')],
        dimensions: ['country'],
        time: 'month',
        rollup: { of: modelName('m.sales'), never: [] },
      },
    },
  })
  assert.equal(rollup!.columns, ['month', 'country', 'revenue'])
  assert.equal(rollup!.fields, ['month', 'country', 'revenue'])
  assert.equal(rollup!.filters, ['country', 'month'])
  assert.equal([rollup!.title, rollup!.below], ['month', undefined])
  // Moments are no days: a point for each says nothing.
  assert.equal(rollup!.chart, {
    Title: 'Revenue',
    ChartType: 'Column',
    Dimensions: ['country'],
    Measures: ['revenue'],
  })
})

test('a wide set keeps its key, title, time and dimensions, in the order of the model', () => {
  const others = (from: number) =>
    Array.from({ length: 40 }, (_, i) => [`c${from + i}`, 'INTEGER'] as const)
  const { m_wide: wide } = drawn({
    'm.wide': {
      key: ['id'],
      columns: [
        ...others(0),
        ['id', 'INTEGER'],
        ...others(40),
        ['day', 'DATE'],
        ['name', 'VARCHAR'],
      ],
      meaning: { ...NO_ANNOTATION, dimensions: ['c79'], time: 'day' },
    },
  })
  assert.is(wide!.columns.length, limits.listColumns)
  assert.equal(wide!.columns.slice(0, 2), ['c0', 'c1'])
  assert.equal(wide!.columns.slice(-4), ['id', 'c79', 'day', 'name'])
  assert.is(wide!.fields.length, 83)
})

test('a set has a few filters and lists at most, and none of what is not there', () => {
  const texts = Array.from({ length: 20 }, (_, i) => [`t${i}`, 'VARCHAR'] as const)
  const sets = Object.fromEntries(
    Array.from({ length: 20 }, (_, i): [string, Described] => [
      `m.other_${i}`,
      {
        key: [`o${i}`],
        columns: [
          [`o${i}`, 'INTEGER'],
          ['main_id', 'INTEGER'],
        ],
      },
    ]),
  )
  const main = { key: ['main_id'], columns: [['main_id', 'INTEGER'], ...texts] as const }
  const { m_main: found } = drawn({ 'm.main': main, ...sets })
  assert.is(found!.filters.length, limits.filterFields)
  assert.is(found!.sections.length, 1 + limits.relatedLists)
  const bytes = drawn({ 'm.bytes': { columns: [['b', 'BLOB', { text: 'gone', unit: 'hidden' }]] } })
  assert.equal(bytes['m_bytes'], {
    title: undefined,
    below: undefined,
    names: ['Bytes', 'Bytes'],
    filters: [],
    columns: [],
    fields: [],
    sections: ['Bytes: @UI.Identification'],
    chart: undefined,
    variant: { Visualizations: ['@UI.LineItem'] },
  })
})

test('digits after the point are a scale, where the format says no more and the type has as many', () => {
  const scaleOf = (format: string, type: string) => {
    const xml = [
      ...csdlXml(modelOf({ 'm.a': { columns: [['a', type, { format }]] } }), '4.0'),
    ].join('')
    return /Measures\.V1\.Scale" Int="(\d+)"/.exec(xml)?.[1]
  }
  assert.is(scaleOf('0.00', 'DECIMAL(18,4)'), '2')
  assert.is(scaleOf('#,##0.0', 'DECIMAL(18,4)'), '1')
  assert.is(scaleOf('0', 'DECIMAL(18,4)'), undefined)
  assert.is(scaleOf('0.00', 'DECIMAL(18,1)'), undefined)
  assert.is(scaleOf('0.00', 'DOUBLE'), undefined)
  assert.is(scaleOf('0.0%', 'DECIMAL(18,4)'), undefined)
})

test.run()
