// Names in `collect.tokens` and `collect.webhooks` that no events model has: found when the models are known.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { matches, type ScopeName } from '../access/reader.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Project } from './project.ts'

/** `targets` are the names of the events models. A pattern may wait for its first one. */
export function senderMistakes(
  { senders, signedSenders }: Pick<Project, 'senders' | 'signedSenders'>,
  targets: readonly string[],
): readonly Diagnostic[] {
  const scopes = senders.tokens.flatMap(({ scope }) => scope ?? [])
  const ofTokens = scopes.filter(
    ({ text }) => !text.includes('*') && !targets.some((name) => matches(text, name)),
  )
  const ofSigned = signedSenders.filter(({ target }) => !targets.includes(target))
  return [
    ...ofTokens.map((one) => noSuchTarget('collect.tokens.targets', one, targets)),
    ...ofSigned.map(({ target, source, span }) =>
      noSuchTarget('collect.webhooks.target', { text: target, source, span }, targets),
    ),
  ]
}

function noSuchTarget(
  key: string,
  { text, source, span }: ScopeName,
  targets: readonly string[],
): Diagnostic {
  const expected = `the name of an events model; there is no "${text}"`
  const hint = didYouMean(text, targets) ?? 'eider ls lists the models'
  return diagnostic('config-invalid-value', { key, expected }, { source, span }, hint)
}
