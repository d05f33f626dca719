// Compiled models made by hand, for tests that need no compiler.

import { createHash } from 'node:crypto'
import type {
  ColumnRename,
  CompiledProject,
  EventsModel,
  Model,
  OnSchemaChange,
  Period,
  TimeUnit,
} from '../../src/core/model.ts'
import { columnType } from '../../src/core/relation.ts'
import { ModelBody } from '../../src/core/sql.ts'
import { modelName } from './model-name.ts'

export interface QueryModelOptions {
  readonly kind?: 'view' | 'table' | 'append' | 'merge' | 'period' | 'scd2'
  readonly key?: readonly [string, ...string[]]
  /** `ts` or `ts lookback 1 hour` */
  readonly incremental?: string
  /** `day of ts` or `10 of id lookback 20` */
  readonly period?: string
  /** The column of `@on_duplicate: latest`. */
  readonly latest?: string
  readonly deletes?: 'keep' | 'mirror' | 'close'
  readonly validFrom?: string
  readonly compare?: readonly string[]
  readonly renames?: readonly ColumnRename[]
  readonly onSchemaChange?: OnSchemaChange
  readonly expose?: readonly string[]
  readonly reads?: readonly string[]
  readonly files?: readonly string[]
  readonly volatile?: boolean
}

/** A model with a query; `name` is `schema.table`. */
export function query(name: string, text: string, options: QueryModelOptions = {}): Model {
  const { kind = 'table', key, expose, reads = [], files = [], volatile = false } = options
  const source = {
    path: `models/${name.replace('.', '/')}.sql`,
    text: `-- @kind: ${kind}\n${text}`,
  }
  const start = source.text.length - text.length
  const base = {
    name: modelName(name),
    source,
    description: null,
    tags: [],
    expose: exposed(expose),
    columns: [],
    columnsFromData: true as const,
    dependsOn: reads.map(modelName),
    sources: [],
    files,
    volatile,
    owner: null,
    checks: [],
    places: {},
    definition: hash([text, options]),
    body: ModelBody.of(source, { start, end: source.text.length }),
    // The text of a table holds its data, which are no rule of what reads it.
    rule: hash([kind === 'table' ? name : text]),
  }
  if (kind === 'view' || kind === 'table') return { ...base, kind }
  const { latest, deletes, onSchemaChange = 'evolve', renames = [] } = options
  const [column = '', lookback = null] = options.incremental?.split(' lookback ') ?? []
  const watermark = { column, lookback }
  const all = { ...base, onSchemaChange, renames }
  if (kind === 'append') return { ...all, kind, uniqueKey: key ?? [], watermark }
  if (kind === 'period') return { ...all, kind, uniqueKey: key ?? [], period: periodOf(options) }
  if (key === undefined) throw new Error(`a model of kind ${kind} needs a key`)
  const onDuplicate =
    latest === undefined
      ? ({ take: 'none' } as const)
      : ({ take: 'latest', column: latest } as const)
  const kept = { ...all, uniqueKey: key, onDuplicate }
  if (kind === 'scd2') {
    const { validFrom = null, compare = null } = options
    return { ...kept, kind, validFrom, compare, deletes: deletes === 'keep' ? 'keep' : 'close' }
  }
  return {
    ...kept,
    kind,
    deletes: deletes === 'mirror' ? 'mirror' : 'keep',
    watermark: column === '' ? null : watermark,
  }
}

function periodOf({ period = '' }: QueryModelOptions): Period {
  const [, every = '', column = '', lookback = null] =
    /^(\S+) of (\S+)(?: lookback (.*))?$/.exec(period) ?? []
  return { every: Number(every) || (every as TimeUnit), column, lookback }
}

/** A column list such as `{ id: 'BIGINT!', at: 'TIMESTAMP WITH TIME ZONE' }`; `!` is NOT NULL. */
export function events(
  name: string,
  columns: Readonly<Record<string, string>>,
  expose?: readonly string[],
): EventsModel {
  return {
    kind: 'events',
    onSchemaChange: 'evolve',
    renames: [],
    name: modelName(name),
    source: { path: `models/${name.replace('.', '/')}.sql`, text: '-- @kind: events\n' },
    description: null,
    tags: [],
    expose: exposed(expose),
    columns: Object.entries(columns).map(([column, type]) => ({
      name: column,
      type: columnType(type.replace('!', '')),
      nullable: !type.endsWith('!'),
    })),
    dependsOn: [],
    sources: [],
    files: [],
    volatile: false,
    owner: null,
    checks: [],
    places: {},
    definition: hash([columns, expose]),
  }
}

/** The same with columns as `name type` or `name type NOT NULL`. */
export function eventsModel(name: string, ...columns: readonly string[]): EventsModel {
  const pairs = columns.map((text) => {
    const [, column, type, notNull] = /^("[^"]+"|\S+) (.*?)( NOT NULL)?$/.exec(text)!
    return [column!.replaceAll('"', ''), notNull === undefined ? type! : `${type}!`] as const
  })
  return events(name, Object.fromEntries(pairs))
}

export const projectOf = (...models: readonly Model[]): CompiledProject => ({
  models: new Map(models.map((model) => [model.name, model])),
  macros: [],
  errors: [],
  failed: new Map(),
  macrosAreWhole: true,
  trails: () => new Map(),
  lineage: () => new Map(),
  warnings: [],
})

const exposed = (key: readonly string[] | undefined) =>
  key === undefined ? null : { key, span: { start: 0, end: 0 } }

const hash = (value: unknown) =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
