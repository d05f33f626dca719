import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  countRequest,
  differentRequest,
  isFew,
  fileRequest,
  firstPageRequest,
  isOfSet,
  readRowsState,
  rowRequest,
  rowsRequest,
  valuesRequest,
} from '../../../../src/explorer/page/rows/requests.ts'

const state = (query: string) => readRowsState('orders', query)

test('the request of an address is its query, without what only the page means', () => {
  assert.is(rowsRequest(state('')), 'orders')
  assert.is(
    rowsRequest(state('$filter=a%20eq%201&pin=2&$top=5')),
    'orders?$filter=a%20eq%201&$top=5',
  )
  assert.is(rowsRequest(state('$format=csv&$select=a')), 'orders?$select=a')
  assert.is(firstPageRequest(state('$select=a')), 'orders?$select=a&$count=true')
  assert.is(firstPageRequest(state('$count=false')), 'orders?$count=false')
})

test('the count and the files keep what they can', () => {
  const all = state(
    '$filter=a%20eq%20@p&@p=1&$orderby=a&$expand=b&$count=true&$top=9&$select=a&pin=1',
  )
  assert.is(countRequest(all), 'orders/$count?$filter=a%20eq%20@p&@p=1')
  assert.is(
    fileRequest(all, 'csv'),
    'orders?$filter=a%20eq%20@p&@p=1&$orderby=a&$top=9&$select=a&$format=csv',
  )
  assert.is(fileRequest(state(''), 'parquet'), 'orders?$format=parquet')
})

test('values are counted among the rows that are searched and filtered', () => {
  assert.is(
    decodeURIComponent(valuesRequest(state('$search=red'), 'status', "a eq 'x/y'", 20)),
    "orders?$apply=search(red)/filter(a eq 'x/y')/groupby((status),aggregate($count as rows_of_value))/topcount(20,rows_of_value)",
  )
  assert.is(
    decodeURIComponent(differentRequest('orders', ['a', 'b'])),
    'orders?$apply=aggregate(a with countdistinct as a,b with countdistinct as b,$count as rows_of_value)',
  )
})

test('values are listed that are few, and most of them more than once', () => {
  const few = [isFew(2, 4), isFew(20, 40), isFew('3', '900')]
  assert.equal(few, [true, true, true])
  assert.equal(
    [isFew(1, 9), isFew(21, 900), isFew(8, 8), isFew(5, 9), isFew(undefined, 9)],
    [false, false, false, false, false],
  )
})

test('a key with what a path would end at is encoded', () => {
  assert.is(rowRequest('orders', '7'), 'orders(7)')
  assert.is(rowRequest('orders', "'a/b?c#d'"), "orders('a%2Fb%3Fc%23d')")
})

test('an aggregation makes other rows, a filter in $apply does not', () => {
  assert.ok(isOfSet(state('$filter=a%20eq%201')))
  assert.ok(isOfSet(state("$apply=filter(a%20eq%20'/groupby(')/top(5)")))
  assert.not(isOfSet(state('$apply=filter(a%20eq%201)/groupby((a))')))
  assert.not(isOfSet(state('$apply=concat(top(1),top(2))')))
})

test.run()
