// What queries may read, with columns, for completion.

import { type CompletionItem, CompletionItemKind } from 'vscode-languageserver/node'
import type { Column } from '../core/relation.ts'
import type { EditedProject, LastCompile } from './edited-project.ts'
import { written } from './edits.ts'

export interface NamedRelation {
  readonly name: string
  readonly detail: string
  readonly columns: readonly Column[]
}

/** Models as they were when they last compiled, and tables of sources. */
export function relationsOf(
  project: EditedProject,
  { compiled }: LastCompile,
): readonly NamedRelation[] {
  const models = project.lastModels().map(({ name, kind, columns, description }) => ({
    name,
    detail: description === null ? kind : `${kind}: ${description}`,
    columns,
  }))
  const tables = (compiled.external?.tables ?? []).map(({ name, path, columns }) => ({
    name,
    detail: `source ${path}`,
    columns,
  }))
  return [...models, ...tables]
}

export const columnItem = ({ name, type, description }: Column): CompletionItem => ({
  label: name,
  detail: type,
  insertText: written(name),
  kind: CompletionItemKind.Field,
  ...(description === undefined ? {} : { documentation: description }),
})
