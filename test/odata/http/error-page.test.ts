// What a person sees in a browser where a program gets an error as JSON.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { ask, serve, type Served } from '../../support/odata-service.ts'
import { bearer, readerToken } from '../../support/reader-token.ts'

const BROWSERS = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
]
const PROGRAMS = [
  'application/json',
  '*/*',
  'text/html',
  // HttpURLConnection of Java, unless a program says otherwise.
  'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2',
]

const open = (resources: Resources): Promise<Served> => {
  const tokens = [
    readerToken('all', {}),
    readerToken('old', { expiresAt: new Date('2020-01-01T00:00:00Z') }),
  ]
  const rows = sql`SELECT 1::INTEGER AS id`
  return serve(resources, [{ model: 'core.orders', key: ['id'], rows }], { tokens })
}

test('an expired token, a missing one and an unknown set are pages for a browser', async () => {
  await using resources = new Resources()
  const { url } = await open(resources)
  for (const accept of BROWSERS) {
    const page = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await ask(`${url}${path}`, { headers: { Accept: accept, ...headers } })
      assert.is(answer.headers['content-type'], 'text/html; charset=utf-8')
      assert.match(answer.headers['content-security-policy'] ?? '', "default-src 'none'")
      assert.is(answer.headers['cache-control'], 'no-store')
      return answer
    }
    const expired = await page('/core_orders', bearer('old'))
    assert.is(expired.status, 401)
    assert.match(expired.headers['www-authenticate'] ?? '', 'Basic')
    assert.match(expired.text, '<h1>Your token has expired</h1>')
    const missing = await page('/core_orders')
    assert.match(missing.text, '<h1>This service asks for a token</h1>')
    const unknown = await page('/core_order', bearer('all'))
    assert.is(unknown.status, 404)
    assert.match(unknown.text, /did you mean .*core_orders/)
    assert.match(unknown.text, 'href="../"')
    const hostile = await page('/%3Cimg%20src=x%20onerror=alert(1)%3E', bearer('all'))
    assert.not.match(hostile.text, '<img')
  }
})

test('programs, and who asks for a format, get JSON', async () => {
  await using resources = new Resources()
  const { url } = await open(resources)
  for (const accept of PROGRAMS) {
    const answer = await ask(`${url}/core_order`, { headers: { Accept: accept, ...bearer('all') } })
    assert.is(answer.headers['content-type'], 'application/json')
    assert.match(answer.text, '"code":"unknown-entity-set"')
  }
  const headers = { Accept: BROWSERS[0]!, ...bearer('all') }
  const asked = await ask(`${url}/core_order?$format=json`, { headers })
  assert.is(asked.headers['content-type'], 'application/json')
  const posted = await ask(`${url}/core_order`, { method: 'POST', headers, body: '{}' })
  assert.is(posted.headers['content-type'], 'application/json')
})

test.run()
