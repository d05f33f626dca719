// `collect.webhooks` of eider.yml: services that sign their requests.

import { isScalar, type Node } from 'yaml'
import { limits } from '../core/limits.ts'
import { NAME_IN_LOG } from '../access/hashed-tokens.ts'
import type { Span } from '../core/source-text.ts'
import { didYouMean } from '../core/suggest.ts'
import { signatureShapes, type SignedSender } from '../access/credential.ts'
import { type Environments, malformedReference, valueInForce } from './environment-values.ts'
import { groupOf, itemsOf, type Members, type Reader, spanOf } from './members.ts'

const KEY = 'collect.webhooks'
export const signedSenderKeys = [
  'name',
  'target',
  'signature',
  'secret',
  'tolerance_seconds',
] as const
const EXPECTED = {
  name: 'a name of letters, digits, _ and -',
  target: 'the name of an events model, such as raw.pushes',
  signature: `one of ${signatureShapes.join(', ')}`,
  secret: 'a variable of the environment, such as ${WEBHOOK_SECRET}, or a list of them',
  tolerance: `a number of seconds from 1 to ${limits.longestToleranceMs / 1000}`,
}

/** With the place of each secret. */
export interface PlacedSender extends SignedSender {
  readonly secretSpans: readonly Span[]
}

/** Their secrets are names of variables still. */
export function readSignedSenders(node: Node | null, reader: Reader): readonly PlacedSender[] {
  const expected = 'a list of webhooks, each with name, target, signature and secret'
  const seen = new Set<string>()
  return itemsOf(node, KEY, expected, reader).flatMap((item) => {
    const sender = readSignedSender(item, reader)
    if (sender === null) return []
    for (const name of [`the name ${sender.name}`, `the target ${sender.target}`]) {
      if (seen.has(name.toLowerCase()))
        reader.refuse(item, KEY, `webhooks that differ; two of them have ${name}`)
      seen.add(name.toLowerCase())
    }
    return [sender]
  })
}

function readSignedSender(item: Node, reader: Reader): PlacedSender | null {
  const members = groupOf(item, KEY, signedSenderKeys, reader, { hidden: ['secret'] })
  if (members === null) return null
  const [name, target, written] = (['name', 'target', 'signature'] as const).map((key) =>
    members.text(key, EXPECTED[key]),
  )
  const secrets = members.texts('secret', EXPECTED.secret)
  for (const member of ['name', 'target', 'signature', 'secret'] as const)
    if (!members.has(member)) members.refuseMember(member, EXPECTED[member])
  for (const { text, span } of secrets)
    if (malformedReference(text) !== null || !/^\$\{[^}]*\}$/.test(text)) {
      const place = { start: span.start, end: span.start }
      const hint = 'a secret is not written into this file'
      reader.refuse(place, `${KEY}.secret`, EXPECTED.secret, hint)
    }
  const shape = signatureShapes.find((one) => one === written)
  if (written != null && shape === undefined)
    members.refuseMember('signature', EXPECTED.signature, didYouMean(written, signatureShapes))
  if (name != null && !NAME_IN_LOG.test(name)) members.refuseMember('name', EXPECTED.name)
  const toleranceMs = toleranceOf(members)
  if (name == null || target == null || shape === undefined) return null
  const { source } = reader
  const span = spanOf(members.node('target')!)
  return {
    name,
    target,
    shape,
    secrets: secrets.map(({ text }) => text),
    secretSpans: secrets.map((secret) => secret.span),
    toleranceMs,
    source,
    span,
  }
}

function toleranceOf(members: Members): number {
  const node = members.node('tolerance_seconds')
  if (node === undefined) return limits.signatureToleranceMs
  const seconds = isScalar(node) && typeof node.value === 'number' ? node.value : NaN
  if (Number.isInteger(seconds) && seconds >= 1 && seconds * 1000 <= limits.longestToleranceMs)
    return seconds * 1000
  members.refuseMember('tolerance_seconds', EXPECTED.tolerance)
  return limits.signatureToleranceMs
}

/** With the values of variables. Throws DiagnosticsError for one that is not set. */
export function signedSendersInForce(
  senders: readonly PlacedSender[],
  environments: Environments,
): readonly SignedSender[] {
  return senders.map(({ secretSpans, ...sender }) => {
    const { source } = sender
    const secrets = sender.secrets.map((text, i) =>
      valueInForce(text, environments, { key: `${KEY}.secret`, source, span: secretSpans[i]! }),
    )
    return { ...sender, secrets }
  })
}
