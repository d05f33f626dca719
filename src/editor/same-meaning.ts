// Whether a project means the same after a rename: the same models with the same columns, made of the same columns, and
// each name in a query still the name of the same thing. A rename that fails here is refused.

import { positionOf } from '../core/source-text.ts'
import type { CompiledProject } from '../core/model.ts'
import { Refusal } from './edits.ts'
import type { Thing } from './names.ts'

/** `renamed`: what a thing of before is afterwards. Throws Refusal. */
export function requireSameMeaning(
  before: CompiledProject,
  after: CompiledProject,
  renamed: (thing: Thing) => Thing,
): void {
  const [error] = after.errors
  if (error !== undefined) {
    const { line } = positionOf(error.source, error.span.start)
    throw new Refusal(`${error.source.path}:${line} would not compile: ${error.message}`)
  }
  const wanted = new Map(
    Array.from(before.models.values(), ({ name, columns }) => [
      renamed({ model: name, column: null }).model,
      columns.map(({ name: column, type }) => [renamed({ model: name, column }).column, type]),
    ]),
  )
  for (const [name, columns] of wanted) {
    const { columns: there } = after.models.get(name as never) ?? {}
    if (there === undefined)
      throw new Refusal(
        `${name} would have another name, after the new one of its dimension: take its @rollup out first`,
      )
    const found = there?.map((column) => [column.name, column.type])
    if (JSON.stringify(found) !== JSON.stringify(columns))
      throw new Refusal(
        `${name} would have other columns: it may take them by *; name them in its SELECT first`,
      )
  }
  const same = (thing: Thing) => thing
  if (lineageTexts(before, renamed) !== lineageTexts(after, same))
    throw new Refusal('columns would be computed from other columns')
  if (mentionTexts(before, renamed) !== mentionTexts(after, same))
    throw new Refusal('a name in a query would mean another column')
}

const textOf = ({ model, column }: Thing) => `${model}.${column ?? ''}`.toLowerCase()

function lineageTexts(project: CompiledProject, renamed: (thing: Thing) => Thing): string {
  const lines = Array.from(project.lineage(), ([model, lineage]) => {
    const origins = lineage.map((columns) => columns?.map((one) => textOf(renamed(one))).toSorted())
    return JSON.stringify([renamed({ model, column: null }).model, origins])
  })
  return lines.toSorted().join('\n')
}

/** In the order of the files' places; a file that moved stands elsewhere. */
function mentionTexts(project: CompiledProject, renamed: (thing: Thing) => Thing): string {
  const byFile = new Map<string, string[]>()
  for (const mention of project.mentions?.() ?? []) {
    const { path } = mention.source
    byFile.set(path, [...(byFile.get(path) ?? []), textOf(renamed(mention))])
  }
  return [...byFile.values()]
    .map((names) => names.join())
    .toSorted()
    .join('\n')
}
