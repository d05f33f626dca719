// `collect.webhooks` of eider.yml: services that sign their requests.

import { isScalar, isSeq, type Node } from 'yaml'
import { limits } from '../core/limits.ts'
import { NAME_IN_LOG } from '../access/hashed-tokens.ts'
import type { SourceFile } from '../core/source.ts'
import { didYouMean } from '../core/suggest.ts'
import { signatureShapes, type SignedSender } from '../access/credential.ts'
import { malformedReference, valueInForce } from './environment-values.ts'
import { groupOf, isAbsent, type Refuse, spanOf, textMember, textsMember } from './members.ts'

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

/** Their secrets are names of variables still. */
export function readSignedSenders(
  node: Node | null,
  source: SourceFile,
  refuse: Refuse,
): readonly SignedSender[] {
  if (isAbsent(node)) return []
  if (!isSeq(node)) {
    refuse(node, KEY, 'a list of webhooks, each with name, target, signature and secret')
    return []
  }
  const seen = new Set<string>()
  return (node.items as readonly Node[]).flatMap((item) => {
    const sender = readSignedSender(item, source, refuse)
    if (sender === null) return []
    for (const name of [`the name ${sender.name}`, `the target ${sender.target}`]) {
      if (seen.has(name.toLowerCase()))
        refuse(item, KEY, `webhooks that differ; two of them have ${name}`)
      seen.add(name.toLowerCase())
    }
    return [sender]
  })
}

function readSignedSender(item: Node, source: SourceFile, refuse: Refuse): SignedSender | null {
  const members = groupOf(item, KEY, signedSenderKeys, refuse)
  if (members === null) return null
  const name = textMember(members, 'name', KEY, EXPECTED.name, refuse)
  const target = textMember(members, 'target', KEY, EXPECTED.target, refuse)
  const written = textMember(members, 'signature', KEY, EXPECTED.signature, refuse)
  const secrets = textsMember(members, 'secret', KEY, EXPECTED.secret, refuse)
  for (const member of ['name', 'target', 'signature', 'secret'] as const)
    if (!members.has(member)) refuse(item, `${KEY}.${member}`, EXPECTED[member])
  for (const { text, node } of secrets)
    if (malformedReference(text) !== null || !/^\$\{[^}]*\}$/.test(text))
      refuse(node, `${KEY}.secret`, EXPECTED.secret, 'a secret is not written into this file')
  const shape = signatureShapes.find((one) => one === written)
  if (written !== null && shape === undefined)
    refuse(
      members.get('signature')!,
      `${KEY}.signature`,
      EXPECTED.signature,
      didYouMean(written, signatureShapes),
    )
  if (name !== null && !NAME_IN_LOG.test(name))
    refuse(members.get('name')!, `${KEY}.name`, EXPECTED.name)
  const toleranceMs = toleranceOf(members.get('tolerance_seconds'), refuse)
  if (name === null || target === null || shape === undefined) return null
  const span = spanOf(members.get('target')!)
  const texts = secrets.map(({ text }) => text)
  return { name, target, shape, secrets: texts, toleranceMs, source, span }
}

function toleranceOf(node: Node | undefined, refuse: Refuse): number {
  if (node === undefined) return limits.signatureToleranceMs
  const seconds = isScalar(node) && typeof node.value === 'number' ? node.value : NaN
  if (Number.isInteger(seconds) && seconds >= 1 && seconds * 1000 <= limits.longestToleranceMs)
    return seconds * 1000
  refuse(node, `${KEY}.tolerance_seconds`, EXPECTED.tolerance)
  return limits.signatureToleranceMs
}

/** With the values of variables. Throws DiagnosticsError for one that is not set. */
export function signedSendersInForce(
  senders: readonly SignedSender[],
  environments: readonly Readonly<Record<string, string | undefined>>[],
): readonly SignedSender[] {
  return senders.map((sender) => {
    const { source, span } = sender
    const place = { key: `${KEY}.secret`, source, span }
    const secrets = sender.secrets.map((text) => valueInForce(text, environments, place))
    return { ...sender, secrets }
  })
}
