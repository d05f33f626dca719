// What a model has not read yet of the tables that it follows: the values of its own column that their changes touch.

import { addsOnly, type Followed, type Unfollowed } from '../../compiler/lineage/follow.ts'
import type { Model } from '../../core/model.ts'
import { foldCase, type ModelName, sameName } from '../../core/names.ts'
import type { ColumnType } from '../../core/relation.ts'
import { sql, type Sql } from '../../core/sql.ts'
import type { Step } from '../../core/step.ts'
import type { Connection } from '../../duckdb/database.ts'
import { type ChangeTables, type ReadSoFar, type ClosedRange } from '../../store/changes.ts'
import { type Position, waysFrom } from '../../store/change-ways.ts'
import type { RunContext } from '../run-context.ts'
import { followingOf, followedInputs, type ModelFollowing } from './following.ts'
import { isFollower, keyPositions } from './keys.ts'
import { lead, type Leading, hasParts, rangesIn } from './ranges.ts'
import { mayForget } from './forgets.ts'
import { withoutPartlyForgotten } from './partly-forgotten.ts'
import { noteRemade } from './remade.ts'
import { isInHours, keepOf } from '../../core/retention.ts'
import { cutoffOf } from '../build/old-rows.ts'

interface Touched {
  /** Values of the column, both ends included, that rows may have which are to be read again; null: any. */
  readonly ranges: readonly ClosedRange[] | null
  /** What is read and not followed. */
  readonly others: readonly Unfollowed[]
}

/**
 * For a model whose table goes on, in the transaction that builds it; null: in each run it reads all of its input. What it
 * says holds for the rows that this transaction sees, which is what notePosition() then notes.
 */
export async function touchedSince(context: RunContext, model: Model): Promise<Touched | null> {
  const following = followingOf(context.project, model)
  if (following === null) return null
  const { followed, others } = following
  if (followed.length === 0) return { ranges: [], others }
  const { connection } = context
  const inputs = followedInputs(following)
  const so = await readBy(context, model, inputs)
  const versions = await versionsOf(context, inputs)
  const type = model.columns.find(({ name }) => sameName(name, following.column))!.type
  const unknown = async (one: Followed): Promise<Touched> => {
    if (following.isCareful) return skipped(context, model, one, others)
    const wasRead = so.positions.some((position) => isPositionOf(one, position))
    if (wasRead)
      context.changes.leave(model.name, {
        inputs: [one.model],
        ranges: null,
        least: await leastLed(context, one, type),
      })
    return { ranges: null, others }
  }
  const leading: (Followed & Leading)[] = []
  const changed = new Set<ModelName>()
  const addsAlone = addsOnly(context.project, model)
  for (const one of followed) {
    const unread = unreadOf(one, so, versions.get(one.model)!)
    if (unread === null) return unknown(one)
    leading.push({ ...one, ranges: await withoutForgotten(context, one, unread.ranges) })
    if (unread.hasGone || (unread.ranges.length > 0 && !addsAlone)) changed.add(one.model)
  }
  const led = await lead(connection, leading, type)
  const ranges = led && (await withoutPartlyForgotten(context, model, led, type))
  if (changed.size > 0 && ranges !== null && ranges.length > 0)
    context.changes.leave(model.name, { inputs: [...changed], ranges, least: null })
  if (ranges !== null && ranges.length > 0) warnOfOthers(context, model, following)
  if (ranges !== null) return { ranges, others }
  // Which of them has a value that leads nowhere is asked only where there is one.
  for (const one of leading) if ((await lead(connection, [one], type)) === null) return unknown(one)
  throw new Error('ranges lead somewhere each, and not together')
}

/** Of periods more is said, where they are chosen, and of windows of its own when the model is compiled. */
function warnOfOthers(
  { changes }: RunContext,
  { name, kind }: Model,
  following: ModelFollowing,
): void {
  if (kind === 'period' || !following.touchesOthers) return
  const { column, window, dropsPicked } = following
  if (window !== null)
    changes.warn(
      name,
      `rows with other values of ${column} may keep what they have, since a window of ${window} makes them of rows that have changed; make ${window} a model of kind table, or rebuild a range: eider run ${name} --start VALUE --end VALUE`,
    )
  if (!dropsPicked) return
  const inputs = followedInputs(following).toSorted()
  const or = kind === 'merge' ? ', or write -- @deletes: mirror instead of -- @incremental' : ''
  changes.warn(
    name,
    `rows may stay whose newer state in ${inputs.join(', ')} the SELECT leaves out, since it picks rows before it filters them; pick them in a model of kind table, and read that${or}`,
  )
}

/** Of an input that may have forgotten what lies below: where its lowest value leads to, as a text; null: it forgets nothing, or nobody knows. */
async function leastLed(
  { project, connection }: RunContext,
  one: Followed,
  to: ColumnType,
): Promise<string | null> {
  const model = project.models.get(one.model)
  if (model !== undefined && !mayForget(project, model)) return null
  const value = sql.ident(one.column)
  const lowest = sql`SELECT ${value} AS v FROM ${sql.relation(one.model)} ORDER BY v LIMIT 1`
  const ranges = await rangesIn(connection, lowest, one.type)
  const led = await lead(connection, [{ ...one, ranges }], to)
  return led?.[0]?.low ?? null
}

/** With what a plan would have changed by now. */
async function readBy(
  { store, connection, changes }: RunContext,
  model: Model,
  inputs: readonly ModelName[],
): Promise<ReadSoFar> {
  const found = await store.state.changes.readBy(connection, model.name, inputs)
  return { ...found, changes: [...found.changes, ...changes.planned] }
}

/** Nothing says which rows are late, and to read all of them is not safe: so it is said. */
function skipped(
  { changes }: RunContext,
  { name, kind }: Model,
  { model: input }: Followed,
  others: readonly Unfollowed[],
): Touched {
  const way =
    kind === 'period'
      ? `rebuild the periods that you need: eider run ${name} --start VALUE --end VALUE`
      : 'with a @unique_key all rows would be read again'
  changes.warn(
    name,
    `what changed in ${input} since it was last read is not known, so older rows are left as they are; ${way}`,
  )
  return { ranges: [], others }
}

/** In the transaction that has built the step: from here on the model has read what its inputs are now. */
export async function notePosition(
  context: RunContext,
  { model, slice }: Step,
  isNewTable: boolean,
): Promise<void> {
  // What lies outside of a range is unread, unless the range makes the table of periods: then it counts as never built.
  if (slice !== 'whole' && !(isNewTable && model.kind === 'period'))
    return noteRemade(context, model, slice)
  const following = followingOf(context.project, model)
  const { store, connection } = context
  if (store.state.changes.keepsKeys && isFollower(context.project, model)) {
    const positions = await keyPositions(context, model)
    return store.state.changes.follow(connection, model.name, positions)
  }
  if (following === null || following.followed.length === 0) {
    if (store.state.changes.isReader(model.name))
      await store.state.changes.forget(connection, model.name)
    return
  }
  const inputs = followedInputs(following)
  const versions = await versionsOf(context, inputs)
  const positions = new Map<string, Position>()
  for (const { model: name, column } of following.followed)
    positions.set(`${name}\0${column}`, { model: name, column, version: versions.get(name)! })
  await store.state.changes.follow(connection, model.name, [...positions.values()])
}

/** Whether any of these models will have a position to note. */
export const haveFollowers = ({ project, store }: RunContext, models: readonly Model[]): boolean =>
  models.some((model) => (followingOf(project, model)?.followed.length ?? 0) > 0) ||
  (store.state.changes.keepsKeys && models.some((model) => isFollower(project, model)))

/** Each is another one as soon as the table has other rows. */
async function versionsOf(
  context: RunContext,
  names: readonly ModelName[],
): Promise<ReadonlyMap<ModelName, string>> {
  const versions = new Map<ModelName, string>()
  for (const name of names) {
    versions.set(name, await versionNow(context, name))
  }
  return versions
}

export async function versionNow(context: RunContext, name: ModelName): Promise<string> {
  const isEvents = context.project.models.get(name)?.kind === 'events'
  if (isEvents) return await eventsVersion(context.connection, context.store.state.changes, name)
  return context.changes.plannedVersion(name) ?? context.versionOf(name) ?? ''
}

/**
 * No two commits add events to the same table at once, so the number of all that have ever come says which ones are there.
 * Those that were removed count too: nobody who follows the table has anything to read again on their account.
 */
export async function eventsVersion(
  connection: Connection,
  changes: ChangeTables,
  name: ModelName,
): Promise<string> {
  return String(await changes.countEver(connection, sql.relation(name), name))
}

/** How many rows of a table of events are missing at least, which nobody has noted as removed: deleted by hand. */
export async function eventsGone(
  connection: Connection,
  changes: ChangeTables,
  name: ModelName,
): Promise<number> {
  const newest = await changes.newestEvents(connection, name)
  return newest === 0
    ? 0
    : Math.max(0, newest - Number(await eventsVersion(connection, changes, name)))
}

const isPositionOf = (
  { model, column }: Pick<Followed, 'model' | 'column'>,
  position: Position,
): boolean => foldCase(position.model) === foldCase(model) && sameName(position.column, column)

interface Unread {
  readonly ranges: readonly ClosedRange[]
  readonly hasGone: boolean
}

/** null: nobody knows what has changed. */
function unreadOf(
  { model, column }: Followed,
  { positions, changes }: ReadSoFar,
  now: string,
): Unread | null {
  const position = positions.find((one) => isPositionOf({ model, column }, one))
  if (position === undefined) return null
  if (position.version === now) return { ranges: [], hasGone: false }
  const { passed, leadTo } = waysFrom([position], changes)
  if (!leadTo({ ...position, version: now })) return null
  const ranges: ClosedRange[] = []
  let hasGone = false
  for (const change of passed) {
    if (change.ranges === null) return null
    ranges.push(...change.ranges)
    hasGone ||= change.hasGone === true
  }
  return { ranges, hasGone }
}

// An input that forgets its oldest rows (`@keep`) may still get some that are older, and lose them in the same run. What
// lies below the rows that it keeps has not changed for those who have read it, and to read it again there would take away
// what only they still have.

/** The ranges as far as the table has, or could have, rows in them. */
async function withoutForgotten(
  context: RunContext,
  followed: Followed,
  ranges: readonly ClosedRange[],
): Promise<readonly ClosedRange[]> {
  const { model: name, type } = followed
  const model = context.project.models.get(name)
  const keep = model === undefined ? null : keepOf(model)
  if (keep === null || ranges.length === 0 || !hasParts(type)) return ranges
  const cutoff = cutoffOf(keep, context)
  // What a run is about to remove is as good as gone.
  const kept = context.oldRows.has(name)
    ? sql`SELECT ${cutoff}`
    : leastKept(followed, cutoff, isInHours(keep) ? 'hour' : 'day')
  const least = sameName(keep.column, followed.column)
    ? kept
    : sql`SELECT min(${sql.ident(followed.column)}) FROM ${sql.relation(name)}`
  const rows = sql.rows(ranges.map(({ low, high }) => [low, high]))
  const value = (end: 'low' | 'high') => sql`CAST(${sql.ident(end)} AS ${sql.type(type)})`
  const edge = sql`CAST(least AS ${sql.type(type)})`
  // A table without rows has forgotten all that it had.
  const found = await context.connection.texts(sql`
    SELECT CAST(greatest(${value('low')}, ${edge}) AS VARCHAR) AS low, high
    FROM (VALUES ${rows}) AS ranges(low, high), (SELECT (${least}) AS least)
    WHERE ${value('high')} >= ${edge}`)
  return found as unknown as readonly ClosedRange[]
}

/** Nothing was removed from the time on at which it cuts now, nor from the oldest row on, with the whole of its day. */
const leastKept = ({ model, column }: Followed, cutoff: Sql, unit: string): Sql => {
  const name = sql.ident(column)
  return sql`SELECT least(${cutoff}, CAST(date_trunc(${sql.value(unit)}, min(${name})) AS TIMESTAMP))
    FROM ${sql.relation(model)} WHERE ${name} < ${cutoff}`
}
