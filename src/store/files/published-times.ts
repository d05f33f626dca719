// When published states were current. The manifest of a retained state says when it was last; one that came back says in
// `earlier` when it was before, since what it was published as then is the same file. Needs no engine: a run with nothing to
// do reads this, too.

import { limits } from '../../core/limits.ts'
import type { EarlierTime } from '../../core/snapshot.ts'
import type { KeptState } from '../past-states.ts'
import type { SnapshotFiles } from './snapshot-directory.ts'

/** Before the state `id` is published: the times of it that are over. */
export function earlierTimes(
  snapshots: SnapshotFiles,
  id: string,
  now: Date,
): readonly EarlierTime[] {
  const times = timesOf(snapshots).filter((time) => time.id === id)
  return times
    .map(({ publishedAt, replacedAt, runId }) => ({
      publishedAt,
      replacedAt: replacedAt ?? now,
      runId,
    }))
    .slice(-limits.earlierTimes)
}

/** Oldest first. */
export function timesOf({ current, retained }: SnapshotFiles): readonly KeptState[] {
  if (current === null) return []
  const others = retained.filter(({ id }) => id !== current.id)
  const times = [...others, current].flatMap(({ id, publishedAt, runId, earlier = [] }) => [
    ...earlier.map((time) => ({ id, ...time })),
    { id, publishedAt, runId, replacedAt: null },
  ])
  const ordered = times.toSorted((a, b) => a.publishedAt.getTime() - b.publishedAt.getTime())
  return ordered.map((time, i) => ({
    ...time,
    replacedAt: time.replacedAt ?? ordered[i + 1]?.publishedAt ?? null,
  }))
}
