// Compiled events models for tests that need no compiler.

import type { EventsModel } from '../../src/core/model.ts'
import type { ModelName } from '../../src/core/names.ts'
import { columnType } from '../../src/core/relation.ts'

/** Columns as `name type` or `name type NOT NULL`. */
export function eventsModel(name: string, ...columns: readonly string[]): EventsModel {
  return {
    kind: 'events',
    onSchemaChange: 'evolve',
    tags: [],
    owner: null,
    checks: [],
    name: name as ModelName,
    source: { path: `models/${name.replace('.', '/')}.sql`, text: '' },
    description: null,
    expose: null,
    columns: columns.map((text) => {
      const [, column, type, notNull] = /^("[^"]+"|\S+) (.*?)( NOT NULL)?$/.exec(text)!
      return {
        name: column!.replaceAll('"', ''),
        type: columnType(type!),
        nullable: notNull === undefined,
      }
    }),
    dependsOn: [],
    sources: [],
    files: [],
    volatile: false,
    places: {},
    definition: '',
  }
}
