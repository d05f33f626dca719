// Events of a test: judged as posted events are, and flushed into their table as a run does it.

import type { ClaimSource } from '../../buffer/claim-source.ts'
import { createLogger } from '../../core/logger.ts'
import type { EventsModel } from '../../core/model.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { columnType } from '../../core/relation.ts'
import { ModelFailure } from '../failure.ts'
import { RunResults } from '../results.ts'
import { flushEvents } from '../flush/flush-events.ts'
import type { RunContext } from '../run-context.ts'
import { type RowsFile, unknownColumn, readLines, textLines } from './fixtures.ts'

/** An event that the daemon would not take. */
export interface RefusedEvent {
  readonly events: string
  readonly line: number
  readonly code: string
  /** null: the refusal is about the event as a whole. */
  readonly column: string | null
  readonly reason: string
}

/** What stands before the buffer: the pipeline knows no HTTP. */
export interface EventsDoor {
  /** One event: the bytes to store, or why not. */
  readonly judge: (
    model: EventsModel,
    text: string,
  ) => { readonly stored: Uint8Array } | Pick<RefusedEvent, 'code' | 'column' | 'reason'>
  /** A buffer of the test that has these events; closed by who claims them. */
  readonly claims: (
    model: EventsModel,
    events: readonly Uint8Array[],
    receivedAt: Date,
  ) => Promise<ClaimSource>
}

interface Posting {
  readonly door: EventsDoor
  readonly dir: string
  readonly model: EventsModel
  /** null: nothing is posted. */
  readonly file: RowsFile | null
  /** The test is about the events model itself, so its events may be anything. */
  readonly isTarget: boolean
}

/** `context`: about this model only. */
export async function postEvents(
  context: RunContext,
  { door, dir, model, file, isTarget }: Posting,
): Promise<readonly RefusedEvent[]> {
  if (!isTarget && file !== null) await refuseUnknownFields(dir, file, model)
  const refused: RefusedEvent[] = []
  const valid: Uint8Array[] = []
  for (const { line, text } of file === null ? [] : await textLines(dir, file.path)) {
    const judged = door.judge(model, text)
    if ('stored' in judged) valid.push(judged.stored)
    else refused.push({ events: model.name, line, ...judged })
  }
  const results = new RunResults(context.startedAt, () => {})
  results.selected = context.selected
  const silent = createLogger(() => {})
  const openClaims = () => door.claims(model, valid, context.startedAt)
  await flushEvents({ openClaims, logger: silent, progress: () => {} }, results, context)
  const failure = results.failureOf(model.name)
  if (failure !== null) throw new ModelFailure(failure, 'placed')
  const { rejected = 0 } = results.flushed.get(model.name) ?? {}
  if (rejected > 0)
    throw new ModelFailure(`${file?.path}: the flush rejects ${rejected} events`, 'placed')
  return refused
}

/** A sender may send more than there are columns; a fixture with a misspelt column would test something else. */
async function refuseUnknownFields(
  dir: string,
  { path }: RowsFile,
  { name: relation, columns }: EventsModel,
): Promise<void> {
  const known = new Set(columns.map(({ name }) => name))
  for (const { line, names } of await readLines(dir, path))
    for (const name of names)
      if (!known.has(name)) throw unknownColumn(path, line, name, { relation, columns })
}

/** For messages about refusals that no expectation is for. */
export const placeOfRefusal = ({ line, reason }: RefusedEvent, { path }: RowsFile): string =>
  `${path}:${line}: ${reason}`

const text = columnType('VARCHAR')
export const refusalColumns = [
  { name: 'events', type: text, nullable: false },
  { name: 'line', type: columnType('BIGINT'), nullable: false },
  { name: 'code', type: text, nullable: false },
  { name: 'column', type: text, nullable: true },
  { name: 'reason', type: text, nullable: false },
] as const

export function refusalRows(refused: readonly RefusedEvent[]): Sql {
  if (refused.length === 0) return sql`(SELECT ${sql.nulls(refusalColumns)} WHERE false)`
  const rows = refused.map(
    (one) => sql`(${sql.value(one.events)}, ${sql.value(one.line)}::BIGINT, ${sql.value(one.code)},
      ${sql.value(one.column)}::VARCHAR, ${sql.value(one.reason)})`,
  )
  const names = sql.idents(refusalColumns.map(({ name }) => name))
  return sql`(VALUES ${sql.join(rows)}) AS _eider_refused(${names})`
}
