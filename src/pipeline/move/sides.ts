// The two targets of a move: where tables come from, which is only read, and where they go.

import { EnvironmentError } from '../../core/failures.ts'
import { type ModelName, foldCase, parseModelName } from '../../core/names.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { Resources } from '../../core/resources.ts'
import type { Connection } from '../../duckdb/database.ts'
import { type Known, STATE_SCHEMA } from '../../store/state.ts'
import type { LeaseOptions } from '../../store/run-lease.ts'
import type { Store } from '../../store/store.ts'
import type { ReadOptions } from '../../store/warehouse.ts'
import { isInterruption, toEnvironmentError } from '../failure.ts'
import { readRenaming } from '../rename/record.ts'
import { STORED_SCHEMA } from '../../core/lake.ts'
import type { Column } from '../../core/relation.ts'
import { sql } from '../../core/sql.ts'
import { describe } from '../../duckdb/catalog.ts'
import { numberOf } from '../../duckdb/values.ts'
import { UnstorableError } from '../../store/table-storage.ts'

export interface Side {
  /** The name of the target; null: the default one. */
  readonly target: string | null
  readonly paths: ProjectPaths
  readonly store: Store
  readonly engine: ReadOptions
  /** Names as the project spells them. */
  readonly names: readonly ModelName[]
}

export interface OpenSide extends AsyncDisposable {
  readonly side: Side
  readonly connection: Connection
  readonly known: Known
}

export const sideName = ({ target }: Pick<Side, 'target'>): string => target ?? 'the default target'

const flagOf = ({ target }: Pick<Side, 'target'>): string =>
  target === null ? '' : ` --target ${target}`

/** What `work` does with the store of `side` fails in its words. */
export async function inWordsOf<T>(side: Side, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toEnvironmentError(side.store.explain(error), side.engine.memoryLimit)
  }
}

/** Throws EnvironmentError where there is nothing to move, or a run is at work. */
export async function openSource(side: Side, lease: LeaseOptions): Promise<OpenSide> {
  const { store, paths, engine } = side
  if (!(await store.warehouse.exists()))
    throw new EnvironmentError('warehouse-missing', `${sideName(side)} has no tables yet`, {
      hint: `eider run${flagOf(side)} creates them`,
    })
  await using resources = new Resources()
  resources.use(await leaseOf(side, lease))
  if ((await readRenaming(paths)) !== null)
    throw new EnvironmentError('move-refused', `an eider mv in ${sideName(side)} was interrupted`, {
      hint: `eider run${flagOf(side)} finishes it`,
    })
  const database = resources.use(await store.warehouse.openBeside({ ...engine, hasLease: true }))
  const connection = await database.connect()
  const known = await inWordsOf(side, () => store.state.read(connection, side.names))
  return opened(resources, { side, connection, known })
}

/** Makes what is not there yet of its state. */
export async function openDestination(side: Side, lease: LeaseOptions): Promise<OpenSide> {
  const { store, engine } = side
  await using resources = new Resources()
  resources.use(await leaseOf(side, lease))
  const { waitMs: lockWaitMs, signal } = lease
  const database = resources.use(
    await inWordsOf(side, () => store.warehouse.open({ ...engine, lockWaitMs, signal })),
  )
  const connection = await database.connect()
  const known = await inWordsOf(side, () =>
    store.state.begin(connection, side.names, { isMove: true }),
  )
  return opened(resources, { side, connection, known })
}

function opened(resources: Resources, open: Omit<OpenSide, keyof AsyncDisposable>): OpenSide {
  const owned = resources.move()
  return { ...open, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() }
}

async function leaseOf(side: Side, options: LeaseOptions): Promise<AsyncDisposable> {
  try {
    return await inWordsOf(side, () => side.store.lease.take(options))
  } catch (error) {
    if (isInterruption(error, options.signal)) throw error
    if (!(error instanceof EnvironmentError) || error.code !== 'run-locked') throw error
    const { message, hint = '' } = error
    throw new EnvironmentError('run-locked', `${sideName(side)} is not at rest: ${message}`, {
      hint,
      cause: error,
    })
  }
}

export interface SourceTable {
  readonly name: ModelName
  readonly columns: readonly Column[]
}

/** Relations of a target that are not eider's own, by their names; those of records as they spell them. */
function relationsOf({ known }: Pick<OpenSide, 'known'>): ReadonlyMap<string, 'table' | 'view'> {
  const spelled = new Map(Array.from(known.state.models.keys(), (name) => [foldCase(name), name]))
  const own = [STATE_SCHEMA, STORED_SCHEMA].map((schema) => `${schema}.`)
  const found = [...known.catalog.relations].filter(
    ([key]) => !own.some((start) => key.startsWith(start)),
  )
  return new Map(
    found.map(([key, type]): [string, 'table' | 'view'] => [spelled.get(key) ?? key, type]),
  )
}

/** `others`: views, which the next run makes from their models, and what can be no model. */
export async function tablesOf(
  source: OpenSide,
): Promise<{ readonly tables: readonly SourceTable[]; readonly others: readonly string[] }> {
  const tables: SourceTable[] = []
  const others: string[] = []
  for (const [key, type] of [...relationsOf(source)].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const name = parseModelName(key)
    if (type === 'view' || name === null) others.push(key)
    else
      tables.push({
        name,
        columns: await describe(source.connection, sql`FROM ${sql.relation(name)}`),
      })
  }
  return { tables, others }
}

/** Types that the destination does not have. Throws EnvironmentError `move-refused`. */
export function refuseTypes(tables: readonly SourceTable[], { store }: Side): void {
  const refused: string[] = []
  for (const { name, columns } of tables)
    try {
      store.tables.refuse(columns)
    } catch (error) {
      if (!(error instanceof UnstorableError)) throw error
      refused.push(`${name}: ${error.message}`)
    }
  refuse(refused)
}

/** Values that the destination would change, as it stores their type under another. */
export async function refuseValues(
  connection: Connection,
  { name, columns }: SourceTable,
  to: Side,
): Promise<void> {
  const doubtful = columns.flatMap((column) => {
    const keeps = to.store.tables.keeps(sql.ident(column.name), column.type)
    return keeps === null ? [] : [{ column, keeps }]
  })
  if (doubtful.length === 0) return
  const counts = doubtful.map(({ keeps }) => sql`count(*) FILTER (NOT ${keeps})`)
  const row = await connection.row(
    sql`SELECT [${sql.join(counts)}]::VARCHAR[] AS counts FROM ${sql.relation(name)}`,
  )
  const found = row?.['counts'] as readonly string[]
  refuse(
    doubtful.flatMap(({ column }, i) => {
      const values = numberOf(found[i])
      if (values === 0) return []
      const many = values === 1 ? 'a value' : `${values} values`
      const cast = `CAST("${column.name}" AS VARCHAR) AS "${column.name}"`
      return `${name}: column "${column.name}", which is ${column.type}, has ${many} that ${sideName(to)} cannot store; cast it in the model, as to text: ${cast}`
    }),
  )
}

function refuse([first, ...others]: readonly string[]): void {
  if (first === undefined) return
  const more = others.map((text) => text.slice(0, text.indexOf(':')))
  const also = more.length === 0 ? '' : `; likewise ${[...new Set(more)].join(', ')}`
  throw new EnvironmentError('move-refused', first + also, {
    hint: 'change the model, run it on the source, and move then; nothing was copied',
  })
}

/** Throws EnvironmentError `move-refused` for a destination that something else has written. */
export async function refuseOccupied({ side, connection, known }: OpenSide): Promise<void> {
  const { models, positions } = known.state
  const [first] = [...relationsOf({ known }).keys(), ...models.keys(), ...positions.keys()]
  const hint =
    'move into an empty target: give it another database in eider.yml, or another lake.schema'
  if (first !== undefined)
    throw new EnvironmentError('move-refused', `${sideName(side)} already has tables: ${first}`, {
      hint,
    })
  const row = await connection.row(sql`
    SELECT ((SELECT count(*) FROM _eider.runs) + (SELECT count(*) FROM _eider.rejected_events))::VARCHAR AS n`)
  if (numberOf(row?.['n']) > 0)
    throw new EnvironmentError('move-refused', `${sideName(side)} already has a history of runs`, {
      hint,
    })
}
