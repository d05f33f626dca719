// Seeds: a data file of the project, read as a table.

import { diagnostic } from '../../core/diagnostics.ts'
import type { SeedFile } from '../../core/project.ts'
import { isTypeText } from '../../core/relation.ts'
import { DatabaseError, type DatabaseErrorDetails } from '../../duckdb/errors.ts'
import { definitionOf } from '../definition.ts'
import type { Draft, DraftContext } from './draft.ts'
import { problemOf } from '../explain/engine-words.ts'
import { withoutDir } from '../places.ts'
import { seedQuery, untypedColumns, wrongSeedTypes } from '../seed.ts'

export function draftSeed(seed: SeedFile, { connection, dir }: DraftContext): Draft {
  const { name, path, format, types } = seed
  const source = { path, text: '' }
  const place = { source, span: { start: 0, end: 0 } }
  const wanted = types.map(({ column, type }) => ({ column, type }))
  // A text that is no type cannot be put into SQL; what is wrong with it is said when the seed is finished.
  const readable = types.every(({ type }) => isTypeText(type))
  const rows = seedQuery({ source, format, types: readable ? wanted : [] }, dir)
  return {
    name,
    dependsOn: [],
    complete: true,
    rows,
    placeOf: () => place,
    explain: async (details) => {
      const unreadable = (problem: DatabaseErrorDetails) =>
        diagnostic('unreadable-file', { problem: problemOf(withoutDir(problem, dir)) }, place)
      try {
        const wrong = await wrongSeedTypes(connection, seed, dir)
        return wrong.length > 0 ? wrong : [unreadable(details)]
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error
        return [unreadable(error.details)]
      }
    },
    finish: async (columns) => {
      const reads = { dependsOn: [], sources: [], files: [path], volatile: false, checks: [] }
      const words = { description: null, tags: [], owner: null, places: {} }
      const base = { name, source, ...words, expose: null, columns }
      const definition = definitionOf('seed', format, ...(wanted.length === 0 ? [] : [wanted]))
      const model = { ...base, ...reads, definition, kind: 'seed', format, types: wanted } as const
      const diagnostics = readable
        ? await untypedColumns(connection, seed, columns, dir)
        : await wrongSeedTypes(connection, seed, dir)
      return { model, diagnostics }
    },
  }
}
