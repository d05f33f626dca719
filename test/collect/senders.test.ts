import { createHash, createHmac } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger, type LogLine } from '../../src/core/logger.ts'
import { limits } from '../../src/core/limits.ts'
import type { NamedToken, SignatureShape, SignedSender } from '../../src/access/credential.ts'
import { openDaemon, PAGE_VIEWS, targetsOf } from '../support/collect-daemon.ts'
import { eventsModel } from '../support/handmade-models.ts'

const place = { source: { path: 'eider.yml', text: '' }, span: { start: 0, end: 0 } }

const named = (name: string, targets?: readonly string[], expiresAt?: Date): NamedToken => ({
  name,
  hash: createHash('sha256').update(`secret of ${name}`).digest('hex'),
  expiresAt: expiresAt ?? null,
  scope: targets?.map((text) => ({ text, ...place })) ?? null,
})

const signer = (shape: SignatureShape, secrets = ['s1', 's2']): SignedSender => {
  const toleranceMs = limits.signatureToleranceMs
  return { name: `from-${shape}`, target: `raw.${shape}`, shape, secrets, toleranceMs, ...place }
}

const targets = targetsOf(
  PAGE_VIEWS,
  eventsModel('raw.github', 'ref VARCHAR'),
  eventsModel('raw.stripe', 'id VARCHAR'),
)
const NAMED = [
  named('shop', ['raw.page_views']),
  named('any'),
  named('old', undefined, new Date('2020-01-01')),
]

const sha256 = (secret: string, text: string) =>
  createHmac('sha256', secret).update(text).digest('hex')
const now = () => Math.floor(Date.now() / 1000)

async function opened(options: Parameters<typeof openDaemon>[0] = {}) {
  const log: LogLine[] = []
  const logger = createLogger((line) => log.push(line), 'debug')
  const signed = [signer('github'), signer('stripe')]
  const fixture = await openDaemon({ targets, signed, logger, ...options })
  const post = async (target: string, body: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${fixture.daemon.url}/collect/raw/${target}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    })
    const json = (await answer.json()) as {
      readonly accepted?: number
      readonly error?: { readonly code: string; readonly message: string }
    }
    return {
      status: answer.status,
      code: json.error?.code ?? null,
      message: json.error?.message ?? '',
      challenge: answer.headers.get('WWW-Authenticate'),
    }
  }
  const stored = () =>
    [...fixture.buffer.stats().targets].map(([name, { buffered }]) => [name, buffered])
  return { ...fixture, post, log, stored }
}
const show = (token: string) => ({ Authorization: `Bearer secret of ${token}` })

test('a token with a name sends to its targets until it ends, and the access log has the name', async () => {
  await using fixture = await opened({ token: 'plain', named: NAMED, accessLog: true })
  const { post, log } = fixture
  assert.is((await post('page_views', '{"event_name":"a"}', show('shop'))).status, 202)
  assert.is((await post('page_views', '{"event_name":"a"}', show('any'))).status, 202)
  const plain = { Authorization: 'Bearer plain' }
  assert.is((await post('page_views', '{"event_name":"a"}', plain)).status, 202)
  // A target that is there, and one that is not.
  for (const target of ['stripe', 'nothing']) {
    const { status, code } = await post(target, '{}', show('shop'))
    assert.equal([status, code], [403, 'not-for-token'])
  }
  const old = await post('page_views', '{"event_name":"a"}', show('old'))
  assert.equal([old.status, old.code], [401, 'token-expired'])
  assert.match(old.challenge ?? '', 'Bearer')
  assert.not.match(old.message, 'old')
  const none = await post('page_views', '{"event_name":"a"}', show('nobody'))
  assert.equal([none.status, none.code], [401, 'unauthorized'])
  const lines = log.filter(({ event }) => event === 'request').map((line) => JSON.stringify(line))
  assert.match(lines[0] ?? '', '"token":"shop"')
  assert.not.match(lines.join('\n'), /secret of|plain/)
  const health = async (token: string) =>
    Object.keys(
      (await (
        await fetch(`${fixture.daemon.url}/health`, { headers: show(token) })
      ).json()) as object,
    ).includes('targets')
  assert.equal(
    [await health('any'), await health('shop'), await health('old')],
    [true, false, false],
  )
})

test('the fast path keeps to the same tokens', async () => {
  await using fixture = await opened({ named: NAMED, signed: [] })
  const { post, stored } = fixture
  assert.is((await post('page_views', '{"event_name":"a"}', show('shop'))).status, 202)
  assert.is((await post('github', '{"ref":"a"}', show('shop'))).status, 403)
  assert.is((await post('page_views', '{"event_name":"a"}')).status, 401)
  assert.equal(stored(), [['raw.page_views', 1]])
})

test('tokens change while the daemon is running, but the last one does not go', async () => {
  await using fixture = await opened({ named: [named('a')] })
  const { daemon, post } = fixture
  const status = async (token: string) =>
    (await post('page_views', '{"event_name":"a"}', show(token))).status
  daemon.setTargets(targets, { named: [named('a'), named('b')] })
  assert.equal([await status('a'), await status('b')], [202, 202])
  daemon.setTargets(targets, { named: [named('b')] })
  assert.equal([await status('a'), await status('b')], [401, 202])
  assert.throws(() => daemon.setTargets(targets, { named: [] }), 'the last token was removed')
  assert.equal([await status('a'), await status('b')], [401, 202])
})

test('a token ends in the middle of a connection', async () => {
  await using fixture = await opened({ named: NAMED })
  const expiresAt = new Date(Date.now() + 1500)
  fixture.daemon.setTargets(targets, { named: [named('short', undefined, expiresAt)] })
  const send = () => fixture.post('page_views', '{"event_name":"a"}', show('short'))
  assert.is((await send()).status, 202)
  await new Promise((resolve) => setTimeout(resolve, expiresAt.getTime() - Date.now() + 20))
  assert.is((await send()).code, 'token-expired')
})

test('GitHub: the signature is of the body as it came, by any of the secrets', async () => {
  await using fixture = await opened()
  const { post, stored } = fixture
  const body = '{"ref": "refs/heads/é",\n "n": 1}'
  const signed = (secret: string, of = body) => ({
    'X-Hub-Signature-256': `sha256=${sha256(secret, of)}`,
  })
  assert.is((await post('github', body, signed('s1'))).status, 202)
  assert.is((await post('github', `${body} `, signed('s2', `${body} `))).status, 202)
  for (const [headers, code] of [
    [{}, 'unsigned'],
    [signed('s3'), 'invalid-signature'],
    [signed('s1', body.trim().slice(1)), 'invalid-signature'],
    [{ 'X-Hub-Signature-256': 'sha256=' }, 'invalid-signature'],
    [{ 'X-Hub-Signature-256': sha256('s1', body) }, 'invalid-signature'],
    [{ 'X-Hub-Signature': `sha1=${sha256('s1', body)}` }, 'unsigned'],
    // There are no tokens, so showing one is nothing.
    [show('any'), 'unsigned'],
  ] as const) {
    const refused = await post('github', body, headers)
    assert.equal([refused.status, refused.code], [401, code], JSON.stringify(headers))
    assert.match(refused.challenge ?? '', 'Bearer')
  }
  const withoutPrefix = await post('github', body, { 'X-Hub-Signature-256': sha256('s1', body) })
  assert.is(
    withoutPrefix.message,
    'X-Hub-Signature-256 is not a signature; it is sha256= and 64 hexadecimal digits',
  )
  assert.equal(stored(), [['raw.github', 2]])
})

test('a delivery that comes again is stored once, whatever key it has', async () => {
  await using fixture = await opened()
  const { post, stored } = fixture
  const body = '{"ref":"once"}'
  const headers = { 'X-Hub-Signature-256': `sha256=${sha256('s1', body)}` }
  for (const key of ['a', 'b'])
    assert.is((await post('github', body, { ...headers, 'Idempotency-Key': key })).status, 202)
  assert.is((await post('github', body, headers)).status, 202)
  assert.equal(stored(), [['raw.github', 1]])
})

test('Stripe: the time is signed too, and is not long ago', async () => {
  await using fixture = await opened()
  const { post, stored } = fixture
  const body = '{"id":"evt_1"}'
  const signed = (at: number | string, secret = 's1', of = body) =>
    `t=${at},v1=${sha256(secret, `${at}.${of}`)}`
  const send = async (signature: string) => {
    const { status, code } = await post('stripe', body, { 'Stripe-Signature': signature })
    return [status, code]
  }
  assert.equal(await send(signed(now())), [202, null])
  // As while a secret is replaced there.
  const other = `v1=${sha256('another', `${now()}.${body}`)}`
  assert.equal(await send(`${signed(now(), 's2')},${other},v0=abc`), [202, null])
  assert.equal(await send(signed(now() - 290)), [202, null])
  assert.equal(await send(signed(now() - 310)), [401, 'signature-expired'])
  assert.equal(await send(signed(now() + 310)), [401, 'signature-expired'])
  for (const wrong of [
    signed(now()).replace(/t=\d+/, `t=${now() - 1}`),
    signed(now(), 's3'),
    signed(now(), 's1', '{"id":"evt_2"}'),
    signed('0x1').replace('t=', 't=-'),
    `v1=${sha256('s1', body)}`,
    `t=${now()}`,
    `t=${now()},v1=${sha256('s1', `${now()}.${body}`).slice(2)}`,
    signed(now()).replace('v1=', 'v0='),
  ])
    assert.equal(await send(wrong), [401, 'invalid-signature'], wrong)
  assert.equal(stored(), [['raw.stripe', 1]])
})

test('where there are tokens, one of them is as good as a signature', async () => {
  await using fixture = await opened({ named: NAMED })
  const { post } = fixture
  assert.is((await post('github', '{"ref":"a"}', show('any'))).status, 202)
  assert.is((await post('github', '{"ref":"a"}', show('shop'))).status, 403)
  assert.is((await post('github', '{"ref":"a"}', show('nobody'))).status, 401)
  assert.is((await post('github', '{"ref":"a"}')).code, 'unsigned')
})

test('a signed body that was compressed on its way is refused', async () => {
  await using fixture = await opened()
  const body = '{"ref":"a"}'
  const headers = {
    'X-Hub-Signature-256': `sha256=${sha256('s1', body)}`,
    'Content-Encoding': 'deflate',
  }
  assert.is((await fixture.post('github', body, headers)).code, 'invalid-signature')
})

test.run()
