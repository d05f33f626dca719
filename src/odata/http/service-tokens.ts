// The tokens of a service that have names, and whether their row filters fit what is published.

import { type Diagnostic, diagnostic, throwIfErrors } from '../../core/diagnostics.ts'
import type { ReaderToken } from '../../access/hashed-tokens.ts'
import { matches, type WrittenFilter } from '../../access/rights.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { Snapshots } from '../engine/current-snapshot.ts'
import type { KnownReaders } from './who-asks.ts'
import type { Reader } from '../../access/reader.ts'

export interface ServiceToken {
  readonly token: ReaderToken
  readonly reader: Reader
}

export function knownReaders(token: string | null, tokens: readonly ServiceToken[]): KnownReaders {
  return {
    accepted: { token, named: tokens.map((one) => one.token) },
    readers: new Map(tokens.map((one) => [one.token.name, one.reader])),
  }
}

const FILTER_HINT =
  'write a condition over the published columns of the set, such as "country_id = \'NO\'"'

/** Throws DiagnosticsError, with the places in eider.yml, for filters that do not fit what is published. */
export async function requireBound(
  snapshots: Snapshots,
  tokens: readonly ServiceToken[],
): Promise<void> {
  if (snapshots.published === null) return
  await using snapshot = snapshots.lease()
  const names = [...snapshot.model.sets.keys()]
  const wrong: Diagnostic[] = []
  for (const { reader, token } of tokens) {
    const { problems } = await snapshot.viewFor(reader)
    for (const { filter, set, problem } of problems) {
      const isKnown = names.some((name) => matches(set, name))
      const hint = isKnown ? FILTER_HINT : (didYouMean(set, names) ?? 'eider ls lists the sets')
      wrong.push(misfit(token, { ...filter, set }, problem, hint))
    }
  }
  throwIfErrors(wrong)
}

function misfit(
  { name }: ReaderToken,
  { set, source, span }: Pick<WrittenFilter, 'set' | 'source' | 'span'>,
  problem: string,
  hint: string,
): Diagnostic {
  const expected = `a condition that fits ${set} (token "${name}"): ${problem}`
  const parameters = { key: 'odata.tokens.rows', expected }
  return diagnostic('config-invalid-value', parameters, { source, span }, { hint })
}
