// How fresh the rows of each set are: until when all that had arrived is in them, as the run has noted that published them
// or that found later that nothing was missing.

import { statesIn } from '../../core/catalog.ts'
import { limits } from '../../core/limits.ts'
import { type EntitySetName, entitySetName } from '../../core/names.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import type { SnapshotReader } from '../../store/snapshot-reader.ts'

/** Sets of which no run has noted it are not there. */
export type SetsFreshness = ReadonlyMap<EntitySetName, FreshSet>

interface FreshSet {
  /** In milliseconds of Unix time. */
  readonly atMs: number
  /** Seconds that it may be behind; null: nothing is promised. */
  readonly withinSeconds: number | null
}

interface Known {
  readonly mark: string
  readonly sets: Promise<SetsFreshness>
}

const NONE: SetsFreshness = new Map()

export class Freshness {
  readonly #published: Pick<SnapshotReader, 'catalog'>
  #known: Known | null = null

  constructor(published: Pick<SnapshotReader, 'catalog'>) {
    this.#published = published
  }

  /** Read again only where a run has noted more since. */
  async of(snapshot: Snapshot | null): Promise<SetsFreshness> {
    if (snapshot === null) return NONE
    const text = await this.#published.catalog(snapshot.id)
    if (text === null || text.bytes > limits.catalogBytes) return NONE
    if (this.#known?.mark !== text.mark) {
      // A run may put another text in its place, or delete it, at this moment.
      const sets = text.read().then(
        (bytes) => freshSets(snapshot, bytes.toString('utf8')),
        () => NONE,
      )
      this.#known = { mark: text.mark, sets }
    }
    return await this.#known.sets
  }
}

function freshSets({ relations }: Snapshot, text: string): SetsFreshness {
  const states = statesIn(text)
  if (states === null) return NONE
  const sets = relations.map(({ model }) => {
    const { fresh_at: at = '', fresh_within: within = null } = states[model] ?? {}
    return [entitySetName(model), { atMs: Date.parse(at), withinSeconds: within }] as const
  })
  return new Map(sets.filter(([, { atMs }]) => !Number.isNaN(atMs)))
}
