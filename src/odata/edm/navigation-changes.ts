// How navigation between entity sets changes when another snapshot is published.

import type { ContractChange } from '../../core/report/planned-changes.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import { buildEntityModel, type SnapshotFacts } from './entity-model.ts'
import type { EntitySet } from './model.ts'

/** Not used here. */
const NO_ROWS: SnapshotFacts = {
  stored: { tableOf: (name) => [name], inKeyOrder: false, ownFilesOnly: true },
  signedTinyints: new Map(),
  clampedTimes: new Map(),
}

/** Of the sets that both snapshots have. Types that depend on the values of a column are taken as they mostly are. */
export function navigationChanges(before: Snapshot, after: Snapshot): readonly ContractChange[] {
  const now = buildEntityModel(after, NO_ROWS).sets
  return [...buildEntityModel(before, NO_ROWS).sets.values()].flatMap((old) => {
    const set = now.get(old.name)
    return set === undefined ? [] : changesOf(old, set)
  })
}

function changesOf(before: EntitySet, after: EntitySet): readonly ContractChange[] {
  const was = targetsOf(before)
  const now = targetsOf(after)
  const lost = [...was].flatMap(([name, target]) => {
    const next = now.get(name)
    if (next === target) return []
    const change = next === undefined ? 'removed' : `leads to ${next} instead of ${target}`
    return [{ set: before.name, change: `navigation ${name} ${change}`, breaking: true }]
  })
  const added = [...now.keys()]
    .filter((name) => !was.has(name))
    .map((name) => ({ set: before.name, change: `navigation ${name} added`, breaking: false }))
  return [...lost, ...added]
}

const targetsOf = ({ type }: EntitySet): ReadonlyMap<string, string> =>
  new Map(
    type.navigation.map(({ name, target, many }) => [
      name,
      many ? `many ${target.name}` : target.name,
    ]),
  )
