import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { nextLink, parseSkipToken } from '../../../src/odata/paging.ts'

const ROOT = 'http://localhost:8090/odata/'

test('a next link is the request with its token', () => {
  const token = { offset: 30, pageSize: 10, snapshotId: 'a b&c.d' }
  const link = nextLink(ROOT, "orders?$filter=a%20eq%20'%26'&$top=50", token)
  assert.is(link, `${ROOT}orders?$filter=a%20eq%20'%26'&$top=50&$skiptoken=30.10.a%20b%26c.d`)
  assert.equal(parseSkipToken(new URL(link).searchParams.get('$skiptoken')!), token)
  assert.is(
    nextLink(ROOT, 'orders', { ...token, snapshotId: 's' }),
    `${ROOT}orders?$skiptoken=30.10.s`,
  )
})

test('the token of the page before is replaced', () => {
  const token = { offset: 2, pageSize: 1, snapshotId: 's' }
  for (const before of [
    '$skiptoken=1.1.s',
    '%24skiptoken=1.1.s',
    '$SkipToken=1.1.s',
    'skiptoken=1.1.s',
  ])
    assert.is(nextLink(ROOT, `a?${before}&x=1`, token), `${ROOT}a?x=1&$skiptoken=2.1.s`)
})

test('a token of another form is refused', () => {
  for (const text of [
    '',
    '1',
    '1.1',
    '1.1.',
    '-1.1.s',
    '1.0.s',
    'a.b.c',
    '1.1e3.s',
    '9999999999999999.1.s',
  ])
    assert.throws(() => parseSkipToken(text), 'was not made by this service', text)
})

test.run()
