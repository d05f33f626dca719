// Sets that are declared and not there: of models that no run has built yet, since each build of theirs has failed.

import { type UnbuiltSet, unbuiltSets } from '../../core/unbuilt.ts'
import { limits } from '../../core/limits.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import type { SnapshotReader } from '../../store/snapshot-reader.ts'

interface Known {
  readonly mark: string
  readonly sets: Promise<readonly UnbuiltSet[]>
}

export class UnbuiltSets {
  readonly #published: Pick<SnapshotReader, 'catalog'>
  #known: Known | null = null

  constructor(published: Pick<SnapshotReader, 'catalog'>) {
    this.#published = published
  }

  /** The model of a set; null: nobody declares such a set, or it is not known. Read again only where a run has said more. */
  async modelOf(snapshot: Snapshot, set: string): Promise<string | null> {
    const text = await this.#published.catalog(snapshot.id)
    if (text === null || text.bytes > limits.catalogBytes) return null
    if (this.#known?.mark !== text.mark) {
      // A run may put another text in its place, or delete it, at this moment.
      const sets = text.read().then(
        (bytes) => unbuiltSets(bytes.toString('utf8'), snapshot),
        () => [],
      )
      this.#known = { mark: text.mark, sets }
    }
    return (await this.#known.sets).find(({ name }) => name === set)?.model ?? null
  }
}
