import type { IncomingMessage } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../src/core/failures.ts'
import { isLoopback, requireSafeBinding, whoAsks } from '../../src/http/auth.ts'
import { RequestError } from '../../src/http/request-error.ts'

const asking = (authorization?: string) =>
  ({ headers: { authorization } }) as unknown as IncomingMessage
const requireToken = (request: IncomingMessage, token: string | null) =>
  whoAsks(request, { token, named: [] })
function hasToken(request: IncomingMessage, token: string | null): boolean {
  try {
    return requireToken(request, token) === null
  } catch {
    return false
  }
}
const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`

test('the token comes as Bearer, or as the password of Basic', () => {
  assert.ok(hasToken(asking(basic('me:with:colons')), 'with:colons'))
  for (const shown of ['Bearer secret', 'BEARER secret', basic('me:secret'), basic(':secret')])
    assert.ok(hasToken(asking(shown), 'secret'), shown)
  for (const shown of [
    undefined,
    '',
    'secret',
    'Bearer',
    'Bearer ',
    'Bearer secre',
    'Bearer secret2',
    'Digest secret',
    basic('secret:'),
  ])
    assert.not.ok(hasToken(asking(shown), 'secret'), String(shown))
})

test('a token may have spaces and letters of every language', () => {
  const token = 'café au lait'
  const onTheWire = Buffer.from(`Bearer ${token}`).toString('latin1')
  assert.ok(hasToken(asking(onTheWire), token))
  assert.ok(hasToken(asking(basic(`me:${token}`)), token))
  assert.not.ok(hasToken(asking('Bearer café'), token))
})

test('without a token everybody may ask', () => {
  assert.ok(hasToken(asking(), null))
  assert.is(requireToken(asking(), null), null)
})

test('401 says how to show a token', () => {
  try {
    void requireToken(asking('Bearer no'), 'secret')
    assert.unreachable()
  } catch (error) {
    assert.instance(error, RequestError)
    assert.is((error as RequestError).status, 401)
    assert.equal((error as RequestError).headers['WWW-Authenticate'], [
      'Bearer realm="eider"',
      'Basic realm="eider", charset="UTF-8"',
    ])
  }
})

test('loopback addresses, as far as they can be told from their text', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', 'LocalHost', '::1', '[::1]'])
    assert.ok(isLoopback(host), host)
  for (const host of [
    '',
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '127.0.0.1.example.org',
    '127.1',
    'localhost.example.org',
    '1270.0.1',
    '127.0.0.1:80',
  ])
    assert.not.ok(isLoopback(host), host)
})

test('another address needs a token, or the word that it needs none', () => {
  assert.throws(
    () => requireSafeBinding('0.0.0.0', null, false),
    (error: unknown) => error instanceof EnvironmentError,
  )
  requireSafeBinding('0.0.0.0', 'secret', false)
  requireSafeBinding('0.0.0.0', null, true)
  requireSafeBinding('127.0.0.1', null, false)
})

test.run()
