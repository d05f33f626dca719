// What a store declares of its rows decides on the names of tables, and on whether a page needs an order.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { columnType } from '../../../src/core/relation.ts'
import { rowsInAnyOrder, type StoredRows } from '../../../src/core/snapshot.ts'
import type { BoundQuery } from '../../../src/odata/bind/bound-request.ts'
import { keysetOf } from '../../../src/odata/bind/keyset.ts'
import { bindRequest } from '../../../src/odata/bind/request.ts'
import { buildEntityModel } from '../../../src/odata/edm/entity-model.ts'
import { nameBefore } from '../../../src/odata/edm/model.ts'
import { copiesOf } from '../../../src/odata/sql/expression.ts'
import { tableBeforeSql } from '../../../src/odata/sql/visible-rows.ts'
import { rowsSql } from '../../../src/odata/sql/query.ts'
import { parseRequest } from '../../../src/odata/syntax/parse-request.ts'
import { fileRows } from '../../../src/store/files/rows.ts'
import { modelName } from '../../support/model-name.ts'

function bound(target: string, stored: StoredRows): BoundQuery {
  const column = (name: string) => ({ name, type: columnType('INTEGER'), nullable: true })
  const relation = {
    model: modelName('mart.sales'),
    file: 'f.duckdb',
    bytes: 0,
    rows: 0,
    key: ['id'],
    description: null,
    columns: [column('id'), column('amount')],
  }
  const model = buildEntityModel(
    { id: 's', publishedAt: new Date(0), runId: 'r', relations: [relation] },
    { stored, signedTinyints: new Map(), clampedTimes: new Map() },
  )
  const request = bindRequest(parseRequest(target, 'http://127.0.0.1/odata/'), model, {
    now: new Date(0),
    version: '4.01',
    copiesOf,
  })
  if (request.kind !== 'collection') throw new Error('not a collection')
  return request.query
}

const sqlOf = (query: BoundQuery) => rowsSql(query, { offset: 0, limit: 10 }).inline()
const unordered: StoredRows = { ...fileRows, inKeyOrder: false }

test('a page by key has no order where rows lie in it, and one where they do not', () => {
  for (const target of ['mart_sales', 'mart_sales?$orderby=id', 'mart_sales?$filter=amount gt 1']) {
    assert.not.match(sqlOf(bound(target, fileRows)), 'ORDER BY', target)
    const query = bound(target, unordered)
    assert.match(sqlOf(query), 'ORDER BY', target)
    assert.ok(keysetOf(query), 'a next page begins at a position all the same')
  }
  const asked = 'mart_sales?$orderby=amount'
  assert.is(sqlOf(bound(asked, unordered)), sqlOf(bound(asked, fileRows)))
})

test('rows of one key have no order, wherever they lie', () => {
  for (const filter of ['id eq 5', 'amount gt 1 and id eq 5'])
    assert.not.match(sqlOf(bound(`mart_sales?$filter=${filter}`, unordered)), 'ORDER BY', filter)
  for (const rest of ['id ge 5', 'id eq 5 or id eq 6', 'id eq amount', 'amount eq 5'])
    assert.match(sqlOf(bound(`mart_sales?$filter=${rest}`, unordered)), 'ORDER BY', rest)
  const asked = 'mart_sales?$filter=id eq 5&$orderby=amount'
  assert.match(sqlOf(bound(asked, unordered)), 'ORDER BY "it"."amount"')
})

test('tables have the names that the store gives them', () => {
  assert.match(sqlOf(bound('mart_sales', fileRows)), 'FROM "mart_sales"."main"."rows"')
  const elsewhere: StoredRows = { ...fileRows, tableOf: (name) => ['lake', `at 7 ${name}`] }
  const query = bound('mart_sales', elsewhere)
  assert.match(sqlOf(query), 'FROM "lake"."at 7 mart_sales"')
  assert.is(
    tableBeforeSql(
      query.set,
      rowsInAnyOrder(elsewhere, query.set.relation, nameBefore(query.set.name)),
    ).inline(),
    '"lake"."at 7 mart_sales before"',
  )
})

test.run()
