// Who reads a set that changes so that its clients break: models that use the columns that are others, directly or through
// other models, the sets among them, and the tokens with names.

import { nameOf, tokenize } from '../compiler/sql/tokens.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import { entitySetName, foldCase, type ModelName, sameName } from '../core/names.ts'
import type { ContractChange, ReadBy } from '../core/report/planned-changes.ts'
import type { ExpectedRelation, PublishedRelation, Snapshot } from '../core/snapshot.ts'

type Shape = Pick<PublishedRelation, 'columns'>

/** The names of the tokens with which a set can be read. */
export type TokensOf = (set: string) => readonly string[]

export function readByOf(
  project: CompiledProject,
  name: ModelName,
  tokensOf: TokensOf,
  [before, after]: readonly [Shape, Shape],
): ReadBy {
  const models = readersOfColumns(project, name, changedColumns(before, after))
  const sets = models.flatMap((model) => (model.expose === null ? [] : entitySetName(model.name)))
  return { models: models.map((model) => model.name), sets, tokens: tokensOf(entitySetName(name)) }
}

/** Changes that break clients, with those who read the sets. */
export function withReaders(
  changes: readonly ContractChange[],
  project: CompiledProject,
  tokensOf: TokensOf,
  published: Snapshot | null,
  next: readonly ExpectedRelation[] | readonly PublishedRelation[],
): readonly ContractChange[] {
  const found = new Map<string, ReadBy>()
  for (const set of new Set(changes.flatMap(({ set, breaking }) => (breaking ? [set] : [])))) {
    const isIt = ({ model }: Pick<PublishedRelation, 'model'>) => entitySetName(model) === set
    const before = published?.relations.find(isIt)
    if (before === undefined) continue
    const after = next.find(isIt) ?? { columns: [] }
    const readBy = readByOf(project, before.model, tokensOf, [before, after])
    if (isRead(readBy)) found.set(set, readBy)
  }
  return changes.map((change) => {
    const readBy = change.breaking ? found.get(change.set) : undefined
    return readBy === undefined ? change : { ...change, read_by: readBy }
  })
}

export const isRead = ({ models, tokens }: ReadBy): boolean => models.length + tokens.length > 0

function changedColumns(before: Shape, after: Shape): readonly string[] {
  return before.columns.flatMap(({ name, type, nullable }) => {
    const now = after.columns.find((column) => column.name === name)
    const isSame = now !== undefined && now.type === type && (nullable || !now.nullable)
    return isSame ? [] : [name]
  })
}

/** A column decides which rows there are without giving one a value, too. Another one may have its name. */
const isNamedIn = ({ source }: Model, columns: ReadonlySet<string>): boolean =>
  tokenize(source.text).some((token) => {
    const name = nameOf(token)
    return name !== null && columns.has(foldCase(name))
  })

/** In the order of the project. A column of which nobody knows where its values come from may have them from any. */
function readersOfColumns(
  project: CompiledProject,
  name: ModelName,
  columns: readonly string[],
): readonly Model[] {
  if (columns.length === 0) return []
  const lineage = project.lineage()
  const touched = new Map([[foldCase(name), new Set(columns.map(foldCase))]])
  const isTouched = (model: string, column: string) =>
    touched.get(foldCase(model))?.has(foldCase(column)) === true
  return [...project.models.values()].filter((model) => {
    if (sameName(model.name, name)) return false
    if (!model.dependsOn.some((input) => touched.has(foldCase(input)))) return false
    const origins = lineage.get(model.name) ?? []
    const own = model.columns.filter((_, i) => {
      const known = origins[i]
      return known == null || known.some((origin) => isTouched(origin.model, origin.column))
    })
    const words = model.dependsOn.flatMap((input) => [...(touched.get(foldCase(input)) ?? [])])
    if (own.length === 0 && !isNamedIn(model, new Set(words))) return false
    touched.set(foldCase(model.name), new Set(own.map((column) => foldCase(column.name))))
    return true
  })
}
