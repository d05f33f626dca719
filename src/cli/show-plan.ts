// A plan for people: one line for each model, under it what would change, then the contract, and a total.

import {
  type PlannedColumn,
  type ContractChange,
  type EventsVerdict,
  keptText,
  type ModelDiff,
  type PlannedStep,
  readByText,
  type RowChange,
  type Values,
} from '../core/report/planned-changes.ts'
import { annotationName } from '../core/names.ts'
import { count } from '../core/counts.ts'
import { olderLine } from '../core/step.ts'
import type { PlannedRange } from '../core/step.ts'
import { printable } from './cells.ts'
import { type Paint, plain } from './paint.ts'
import { tableLines } from './table.ts'

export function showPlan(
  steps: readonly PlannedStep[],
  contract: readonly ContractChange[],
  paint: Paint = plain,
): string {
  const width = Math.max(0, ...steps.map(({ model }) => model.name.length))
  const changes = tableLines(contract.map(({ set, change }) => [set, change]))
  const { build, remove, unchanged, failing, skip } = planCounts(steps)
  const breaking = contract.filter((change) => change.breaking).length
  return [
    ...steps.flatMap((step) => stepLines(step, width, paint)),
    ...contract.flatMap(({ set, breaking: breaks, read_by: readBy }, i) => {
      const word = breaks ? paint('red', 'breaking ') : 'contract '
      const line = `${word}  ${changes[i]}`
      // Once below all that breaks a set.
      const isLast = !contract.slice(i + 1).some((other) => other.set === set && other.breaking)
      return readBy === undefined || !isLast
        ? [line]
        : [line, `${' '.repeat(11)}${readByText(readBy)}`]
    }),
    `plan: ${build} to build, ${unchanged} unchanged` +
      (remove === 0 ? '' : `, ${remove} to lose old rows`) +
      (failing === 0 ? '' : `, ${failing} failing`) +
      (skip === 0 ? '' : `, ${skip} skipped`) +
      (contract.length === 0 ? '' : `; contract: ${contract.length} changed, ${breaking} breaking`),
  ].join('\n')
}

export function planCounts(steps: readonly PlannedStep[]) {
  const failing = steps.filter(({ problem }) => problem !== null).length
  const others = steps.filter(({ problem }) => problem === null)
  const countOf = (action: PlannedStep['action']) =>
    others.filter((step) => step.action === action).length
  return {
    build: countOf('build'),
    remove: countOf('remove'),
    unchanged: countOf('unchanged'),
    skip: countOf('skip'),
    failing,
  }
}

const styles = { build: 'green', remove: 'yellow', unchanged: 'dim', skip: 'yellow' } as const

function stepLines(step: PlannedStep, width: number, paint: Paint): readonly string[] {
  const { model, action, because, problem, warnings, older, columns, losses, events, diff } = step
  const { ranges } = step
  const style = problem === null ? styles[action] : 'red'
  const word = problem === null ? action : 'fails'
  const head = `${paint(style, word.padEnd(9))}  ${model.name.padEnd(width)}  ${problem ?? because}`
  const below = [
    ...[...warnings, ...(older === undefined ? [] : [olderLine(older)])].map((warning) =>
      paint('yellow', warning),
    ),
    ...columns.map(columnLine),
    ...ranges.flatMap(rangeLine),
    ...step.notes,
    ...losses,
    ...(events === null ? [] : eventLines(events, columns)),
    ...(diff === null ? [] : diffLines(diff)),
  ]
  return [head, ...below.map((line) => ' '.repeat(11) + line)]
}

function columnLine({ column, from, to, renamedFrom }: PlannedColumn): string {
  if (renamedFrom !== undefined) {
    const was = from === to ? '' : `${from} -> `
    return `~ ${column} ${was}${to}, renamed from ${renamedFrom}`
  }
  if (from === null) return `+ ${column} ${to}`
  return to === null ? `- ${column} ${from}` : `~ ${column} ${from} -> ${to}`
}

/** None where all is made, or what was asked for, which the line above says. */
function rangeLine({ start, end, because }: PlannedRange): readonly string[] {
  if ((start === null && end === null) || because === 'backfill') return []
  const from =
    start === null ? `all before ${end}` : `${start} ${end === null ? 'and later' : `to ${end}`}`
  return [`rebuilds ${from}: ${because}`]
}

function eventLines(
  { waiting, rejected, retried, reasons, kept = [] }: EventsVerdict,
  columns: readonly PlannedColumn[],
): readonly string[] {
  if (waiting + retried === 0) return []
  const again = retried === 0 ? '' : `; ${retried} that were rejected fit now`
  return [
    `${count(waiting, 'waiting event')}: ${waiting - rejected} fit, ${rejected} would be rejected${again}`,
    ...reasons.map(({ reason, events, first }) =>
      events === 1
        ? `! event ${first}: ${reason}`
        : `! ${events} events, first ${first}: ${reason}`,
    ),
    ...kept.map((one) => `! ${keptText(one)}; ${renameHint(one.column, columns)}`),
  ]
}

function renameHint(column: string, columns: readonly PlannedColumn[]): string {
  const before = columns.find((one) => one.column === column && one.to === null)
  const added = columns.filter(
    ({ from, renamedFrom }) => from === null && renamedFrom === undefined,
  )
  const [only] = added.length === 1 && added[0]?.to === before?.from ? added : []
  const to = only?.column ?? 'NEW'
  return `if it has another name now, write -- @renamed_from ${annotationName(to)}: ${annotationName(column)} before the next run`
}

function diffLines({ rowsBefore, rowsAfter, changes, warnings }: ModelDiff): readonly string[] {
  const now = `${rowsAfter} ${rowsAfter === 1 ? 'row' : 'rows'}`
  const rows = rowsBefore === null ? now : `${rowsBefore} -> ${now}`
  const counts =
    changes === null
      ? ''
      : `: ${changes.inserted} inserted, ${changes.changed} changed, ${changes.removed} removed`
  return [
    ...(rowsAfter === null ? [] : [rows + counts]),
    ...(changes?.sample ?? []).map(changeLine),
    ...warnings.map((warning) => `warning: ${warning}`),
  ]
}

function changeLine(change: RowChange): string {
  if (change.change !== 'changed')
    return `${change.change === 'inserted' ? '+' : '-'} ${valuesLine(change.row)}`
  const columns = Object.entries(change.columns).map(
    ([name, { from, to }]) => `${name} ${shown(from)} -> ${shown(to)}`,
  )
  return `~ ${valuesLine(change.key)}: ${columns.join(', ')}`
}

const valuesLine = (values: Values) =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${shown(value)}`)
    .join(' ')

const shown = (value: string | null) => (value === null ? 'NULL' : printable(value))
