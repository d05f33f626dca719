// What a run says, line by line, for people.

import { count, grouped } from '../core/counts.ts'
import { placeIn } from '../core/report/failure-place.ts'
import type { ModelResult, Orphan, RunSummary } from '../core/report/progress.ts'
import type { Paint, Style } from './paint.ts'

/** Columns of the first word of a line. */
export const STATUS_COLUMNS = 11

const styleOf: Readonly<Record<string, Style>> = {
  built: 'green',
  unchanged: 'dim',
  failed: 'red',
  breaking: 'red',
  damaged: 'red',
  skipped: 'yellow',
  warning: 'yellow',
}

/** A status, a name in a column of `width`, and what is to be said of it. */
export function line(
  paint: Paint,
  [status, name, says]: readonly [status: string, name: string, says: string],
  width: number,
): string {
  const head = status.padEnd(STATUS_COLUMNS - 1)
  const style = styleOf[status]
  return `${style === undefined ? head : paint(style, head)} ${name.padEnd(width)}  ${says}`
}

export function flushText(events: number, rejected: number, ms: number | null): string {
  const aside = rejected === 0 ? '' : `, ${grouped(rejected)} rejected (see _eider.rejected_events)`
  return `${count(events, 'event')}${aside}${ms === null ? '' : `, ${duration(ms)}`}`
}

/** `isShort`: the place and the words of a failure follow, in a frame. */
export function modelText(result: ModelResult, isShort: boolean): string {
  const { status, because, rows, ms } = result
  if (status === 'failed' && isShort) {
    const place = placeIn(because)
    return place === null ? because : `line ${place.line}`
  }
  if (status !== 'built') return because
  const size = rows === undefined ? '' : `${sizeText(rows, result.changes)}, `
  return `${size}${duration(ms)} (${because})`
}

/** A backfill replaces rows: those that it takes away are no rows that it has made. */
function sizeText(rows: number, changes: ModelResult['changes']): string {
  const [added, removed] = [changes?.rows_in ?? 0, changes?.rows_out ?? 0]
  const changed = changes?.rows_changed ?? 0
  const isSame = added + removed + changed === 0
  if (changes?.way === 'update' && isSame && rows > 0) return `${count(rows, 'row')} as before`
  if (changes?.way !== 'backfill') return count(rows, 'row')
  if (isSame) return 'no row differs'
  return `${count(added, 'row')} in${changed > 0 ? `, ${grouped(changed)} changed` : ''}, ${grouped(removed)} out`
}

/** The last line: what became of the models, what is published, and how long it took. */
export function totalText(run: RunSummary, isInterrupted: boolean, paint: Paint): string {
  const { models, snapshot, ok, ms } = run
  const counts = (['failed', 'skipped', 'built', 'unchanged'] as const).flatMap((status) => {
    const n = models.filter((model) => model.status === status).length
    return n === 0 ? [] : [paint(styleOf[status]!, `${grouped(n)} ${status}`)]
  })
  const warnings = models.reduce((n, model) => n + (model.warnings?.length ?? 0), 0)
  if (warnings > 0) counts.push(paint('yellow', count(warnings, 'warning')))
  if (counts.length === 0) counts.push('no models')
  if (isInterrupted) counts.unshift(paint('red', 'interrupted'))
  // A mistake that is no model's: no model tells that the run has failed.
  else if (!ok && !models.some(({ status }) => status === 'failed'))
    counts.unshift(paint('red', 'failed'))
  if (snapshot?.changed === true) counts.push(`published ${snapshot.id}`)
  return `${counts.join(', ')} in ${duration(ms)}`
}

/** The time before a line of a log, in UTC. */
export const timeStamp = (now = new Date()): string => now.toISOString().replace(/\.\d+/, '')

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
}

/** When, and what, with the files of one save in one line. */
export function savedText(paths: readonly string[]): string {
  const time = new Date().toTimeString().slice(0, 8)
  const [first = '', ...others] = paths
  return `${time}   ${first}${others.length === 0 ? '' : ` and ${count(others.length, 'other file')}`}`
}

/** `isUncounted`: nobody knows how many rows they have, since a run holds the warehouse. */
export const orphanLines = (
  orphans: readonly Orphan[],
  width: number,
  isUncounted: boolean,
): readonly string[] =>
  orphans.map((orphan) => {
    const state = isUncounted ? wayOn(orphan) : orphanState(orphan)
    return `orphan     ${orphan.model.padEnd(width)}  ${state}`
  })

export const orphanState = ({ rows, ...orphan }: Orphan): string =>
  `${sizeOf(rows)}, and ${wayOn(orphan)}`

/** Where the rows cannot be counted. */
export function wayOn(orphan: Omit<Orphan, 'rows'>): string {
  const { model } = orphan
  const kept = howToKeep(orphan)
  const ways = [...(kept === null ? [] : [kept]), `eider drop ${model} removes it`]
  return `no file defines it: ${ways.join(', ')}`
}

/** How to keep it; null for what its file alone can make again. */
function howToKeep({ model, kind, renamed_to: heir }: Omit<Orphan, 'rows'>): string | null {
  if (kind === 'view' || kind === 'seed') return null
  // Events are sent and wait under the name of their model.
  if (kind === 'events') return `models/${model.replace('.', '/')}.sql of kind events takes it over`
  if (heir !== undefined)
    return `${heir} has the same SQL, and eider mv ${model} ${heir} --replace gives it these rows`
  return `eider mv ${model} NEW keeps it as the model NEW`
}

export const sizeOf = (rows: number | null): string =>
  rows === null ? 'a view' : count(rows, 'row')
