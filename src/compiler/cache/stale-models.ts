// Which models of an earlier compile a later one cannot keep.

import type { ModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { CompiledUnits, KeptModels } from '../kept-models.ts'

/** The compile from which the models were kept, and the one that they take part in. */
interface Before {
  readonly columns: ReadonlyMap<ModelName, readonly Column[]>
  /** Data files with hashes: then, and now. */
  readonly inputs: readonly [readonly Input[], readonly Input[]]
}

type Input = readonly [name: string, hash: string]

/** Those that cannot be kept, and, where it has none, nothing else: a data file or columns that they read have changed. */
export function staleAmong(
  kept: KeptModels,
  { units, standIns }: Pick<CompiledUnits, 'units' | 'standIns'>,
  { columns, inputs }: Before,
): ReadonlySet<ModelName> {
  const [then, now] = [new Map(inputs[0]), new Map(inputs[1])]
  const isChanged = (name: string) => !then.has(name) || then.get(name) !== now.get(name)
  const others = Array.from(units, ([name, { model }]) => {
    const relation = kept.has(name) ? standIns.get(name) : model.columns
    return relation === undefined || isSameRelation(relation, columns.get(name) ?? []) ? [] : [name]
  }).flat()
  const stale = readersOf(others, kept)
  for (const name of others) if (kept.has(name)) stale.add(name)
  for (const [name, { model }] of kept) if (model.files.some(isChanged)) stale.add(name)
  return stale
}

/** Those that read one of `models`, directly or through others. */
function readersOf(models: readonly ModelName[], kept: KeptModels): Set<ModelName> {
  const readers = new Map<ModelName, ModelName[]>()
  for (const { model } of kept.values())
    for (const input of model.dependsOn)
      readers.set(input, [...(readers.get(input) ?? []), model.name])
  const found = new Set<ModelName>()
  const open = [...models]
  for (let name = open.pop(); name !== undefined; name = open.pop())
    for (const reader of readers.get(name) ?? []) {
      if (found.has(reader)) continue
      found.add(reader)
      open.push(reader)
    }
  return found
}

/** Whether those who read a relation see the same of another. */
const isSameRelation = (one: readonly Column[], other: readonly Column[]): boolean =>
  one.length === other.length &&
  one.every(({ name, type }, i) => name === other[i]!.name && type === other[i]!.type)
