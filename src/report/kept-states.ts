// What published states that are kept cost, for `eider doctor`.

import { count, grouped } from '../core/counts.ts'
import type { Store } from '../store/store.ts'

interface KeptCost {
  /** One line; null: nothing is published. */
  readonly text: string | null
  /** Files of states that cannot be read. */
  readonly unreadable: readonly string[]
}

export async function keptCost({ past }: Pick<Store, 'past'>): Promise<KeptCost> {
  const { states, unreadable } = await past.list()
  const [oldest] = states
  if (oldest === undefined) return { text: null, unreadable }
  const ids = new Set(states.map(({ id }) => id))
  const since = oldest.publishedAt.toISOString()
  const bytes = await past.olderBytes()
  const cost =
    bytes === null
      ? 'rows that only the older ones have stay in the lake'
      : `${grouped(bytes)} bytes beyond the newest`
  const text = `${count(ids.size, 'published state')} kept since ${since}, ${cost}`
  return { text, unreadable }
}
