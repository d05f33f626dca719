import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createLinkSigner } from '../../../../src/odata/protocol/link-signature.ts'
import {
  nextLink,
  parseSkipToken,
  type SkipToken,
} from '../../../../src/odata/answer/choose/link-tokens.ts'

const ROOT = 'http://localhost:8090/odata/'
const links = createLinkSigner()
const token: SkipToken = {
  snapshotId: 'a b&c.d',
  pageSize: 10,
  given: 30,
  from: ['7', null, "O'Neil & Söhne"],
  count: '90',
  now: null,
  isTracked: false,
}

const tokenIn = (link: string) => new URL(link).searchParams.get('$skiptoken')!
const targetOf = (link: string) => link.slice(ROOT.length)

test('a next link is the request with its token', () => {
  const target = "orders?$filter=a%20eq%20'%26'&$top=50&x=1"
  const link = nextLink({ root: ROOT, target }, token, links)
  assert.ok(link.startsWith(`${ROOT}${target}&$skiptoken=`), link)
  assert.equal(parseSkipToken(tokenIn(link), targetOf(link), links), token)
  assert.ok(
    nextLink({ root: ROOT, target: 'orders' }, token, links).startsWith(
      `${ROOT}orders?$skiptoken=`,
    ),
  )
})

test('the token of the page before is replaced', () => {
  for (const before of ['$skiptoken=1', '%24skiptoken=1.1.s', '$SkipToken=1', 'skiptoken=1']) {
    const link = nextLink({ root: ROOT, target: `a?${before}&x=1` }, token, links)
    assert.match(link, /\/a\?x=1&\$skiptoken=[\w.-]+$/)
    assert.equal(parseSkipToken(tokenIn(link), targetOf(link), links), token)
  }
})

test('a link that a client has written anew is the same link', () => {
  const link = nextLink(
    { root: ROOT, target: "b(x=1,y='%2F')/orders?$filter=a%20eq%20'%27%27'&@p=1" },
    token,
    links,
  )
  const text = tokenIn(link)
  for (const written of [
    `/b(x=1,y='%2F')/orders/?%24filter=a+eq+''''&@p=1&%24skiptoken=${text}`,
    `b(x=1,y='%2f')/orders?$skiptoken=${text}&%40p=1&FILTER=a%20eq%20%27%27%27%27&_=17&$format=json`,
  ])
    assert.equal(parseSkipToken(text, written, links), token)
})

test('a token that was not made by the service for the request is refused', () => {
  const target = 'orders?$filter=a%20eq%201&$top=50'
  const text = tokenIn(nextLink({ root: ROOT, target }, token, links))
  const [payload = '', signature = ''] = text.split('.')
  const others = Buffer.from(JSON.stringify(['s', 1, 0, null, null, null, 0])).toString('base64url')
  for (const made of [
    '',
    '1',
    '30.10.first',
    payload,
    `${payload}.`,
    `.${signature}`,
    `${payload}.${signature}x`,
    `${payload}.${signature}.`,
    `${others}.${signature}`,
    tokenIn(nextLink({ root: ROOT, target }, token, createLinkSigner())),
  ])
    assert.throws(() => parseSkipToken(made, target, links), 'was not made by this service', made)
  for (const other of [
    'items?$filter=a%20eq%201&$top=50',
    'orders?$filter=a%20eq%202&$top=50',
    'orders?$filter=a%20eq%201&$top=51',
    'orders?$filter=a%20eq%201',
    'orders?$filter=a%20eq%201&$top=50&$count=true',
    'orders?$filter=a%20eq%201&$top=50&@p=1',
  ])
    assert.throws(() => parseSkipToken(text, other, links), 'was not made by this service', other)
})

test.run()
