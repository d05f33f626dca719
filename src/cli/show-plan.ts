// A plan for people: one line for each model, its columns that change, the contract, a total.

import { type Paint, plain } from './paint.ts'

export interface ShownPlan {
  readonly steps: readonly {
    readonly model: { readonly name: string }
    readonly action: 'build' | 'unchanged'
    readonly because: string
    readonly problem: string | null
    readonly warnings: readonly string[]
    readonly columns: readonly {
      readonly column: string
      readonly from: string | null
      readonly to: string | null
    }[]
  }[]
  readonly contract: readonly {
    readonly set: string
    readonly change: string
    readonly breaking: boolean
  }[]
}

export function showPlan({ steps, contract }: ShownPlan, paint: Paint = plain): string {
  const width = Math.max(0, ...steps.map(({ model }) => model.name.length))
  const setWidth = Math.max(0, ...contract.map(({ set }) => set.length))
  const builds = steps.filter(({ action }) => action === 'build').length
  const breaking = contract.filter((change) => change.breaking).length
  return [
    ...steps.flatMap((step) => stepLines(step, width, paint)),
    ...contract.map(({ set, change, breaking: breaks }) => {
      const word = breaks ? paint('red', 'breaking ') : 'contract '
      return `${word}  ${set.padEnd(setWidth)}  ${change}`
    }),
    `plan: ${builds} to build, ${steps.length - builds} unchanged` +
      (contract.length === 0 ? '' : `; contract: ${contract.length} changed, ${breaking} breaking`),
  ].join('\n')
}

function stepLines(
  { model, action, because, problem, warnings, columns }: ShownPlan['steps'][number],
  width: number,
  paint: Paint,
): readonly string[] {
  const style = problem !== null ? 'red' : action === 'build' ? 'green' : 'dim'
  const word = problem !== null ? 'fails' : action
  const head = `${paint(style, word.padEnd(9))}  ${model.name.padEnd(width)}  ${problem ?? because}`
  const shown = warnings.map((warning) => ' '.repeat(11) + paint('yellow', warning))
  return [head, ...shown, ...columns.map((column) => ' '.repeat(11) + columnLine(column))]
}

function columnLine({ column, from, to }: ShownPlan['steps'][number]['columns'][number]): string {
  if (from === null) return `+ ${column} ${to}`
  return to === null ? `- ${column} ${from}` : `~ ${column} ${from} -> ${to}`
}
