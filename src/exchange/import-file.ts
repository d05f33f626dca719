// What an imported file changes in the files of a project.

import { contractLines, withContract } from '../compiler/contract.ts'
import type { Model } from '../core/model.ts'
import { annotationName, sameName, splitModelName } from '../core/names.ts'
import type { Column, ColumnType } from '../core/relation.ts'
import { missingChecks } from './compare.ts'
import type { SaidOfModel } from './format.ts'
import { type HeaderLine, lineOfHeader, withHeader } from './header.ts'
import { typeFor } from './odcs/types.ts'

export interface ImportedFile {
  readonly model: string
  /** Relative to the project directory. */
  readonly path: string
  readonly text: string
  readonly state: 'new' | 'changed' | 'unchanged'
  readonly said: SaidOfModel
  /** Lines that are new and whose SQL stands in the file: whoever wrote that has it executed. */
  readonly told: readonly string[]
}

/**
 * null: neither is there a model, nor can one be made. Only where nothing of it is broken. A seed, and a rollup, has no file
 * with a header, and stays as it is.
 */
export function importedFile(said: SaidOfModel, hasFile: boolean): ImportedFile | null {
  const { model, newName, promise, lines } = said
  if (model === null) {
    if (newName === null || promise === null) return null
    const { schema, table } = splitModelName(newName)
    const path = `models/${schema}/${table}.sql`
    return { model: newName, path, text: newEvents(said), state: 'new', said, told: toldIn(lines) }
  }
  const { path, text } = model.source
  if (!hasFile) return { model: model.name, path, text, state: 'unchanged', said, told: [] }
  const missing = new Set(missingChecks(lines, model))
  const taken = lines.filter((line) => !line.repeats || missing.has(line))
  const described = withHeader(text, taken)
  const promised = promise === null ? [] : promisedLines(promise, model)
  const found = promised.length === 0 ? described : withContract(described, promised)
  const state = found === text ? 'unchanged' : 'changed'
  const told = toldIn(taken.filter((line) => withHeader(text, [line]) !== text))
  return { model: model.name, path, text: found, state, said, told }
}

const toldIn = (lines: readonly HeaderLine[]): readonly string[] =>
  lines.filter(({ sql }) => sql === 'told').map(lineOfHeader)

function promisedLines(
  { key, columns }: NonNullable<SaidOfModel['promise']>,
  { expose, columns: actual }: Model,
): readonly string[] {
  if (expose === null) return []
  const promised = columns.flatMap(({ name, required }): readonly Column[] => {
    const column = actual.find((one) => sameName(one.name, name))
    return column === undefined ? [] : [{ name, type: column.type, nullable: !required }]
  })
  return contractLines(key, promised)
}

/** A model to which events of that form are sent: the door holds senders to it. */
function newEvents({ promise, lines }: SaidOfModel): string {
  const columns = (promise?.columns ?? []).map(({ name, type, logical, required }) => {
    const spelled = type ?? (typeFor[logical ?? 'string'] as ColumnType)
    return `${annotationName(name)} ${spelled}${required ? ' NOT NULL' : ''}`
  })
  const kind: HeaderLine = { annotation: 'kind', subject: null, value: 'events' }
  return withHeader(`\n${columns.join(',\n')}\n`, [kind, ...lines])
}
