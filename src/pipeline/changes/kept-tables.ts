// What is said of a table: whether a run makes only those of its rows anew that changes touch, and why not.

import { addressingOf, type WhyRebuilt } from '../../compiler/lineage/addresses.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import { continuesTable } from '../build/materialize/relation.ts'
import { isWhatItWas } from '../plan/decide.ts'
import type { RunContext } from '../run-context.ts'

export interface TableWay {
  readonly is: 'updated' | 'rebuilt' | 'updated or rebuilt'
  /** With what decides it, and why. */
  readonly text: string
}

/** null: it is no table. */
export function wayOf(project: CompiledProject, model: Model): TableWay | null {
  if (model.kind !== 'table') return null
  const { inputs, never } = addressingOf(project, model)
  if (never !== null) return { is: 'rebuilt', text: `rebuilt: ${textOf(never, model)}` }
  const others = new Map<ModelName, WhyRebuilt>()
  for (const { model: input, because } of inputs) if (because !== null) others.set(input, because)
  const names = new Set(inputs.map((input) => input.model).filter((name) => !others.has(name)))
  const parts = [...others].map(
    ([input, because]) => `rebuilt where ${input} changes: ${textOf(because, model)}`,
  )
  if (names.size === 0) return { is: 'rebuilt', text: parts.join('; ') }
  const updated = `updated by what changes in ${[...names].join(', ')}`
  return {
    is: parts.length === 0 ? 'updated' : 'updated or rebuilt',
    text: [updated, ...parts].join('; '),
  }
}

/** At most one line. */
export function keptTableText(project: CompiledProject, model: Model): readonly string[] {
  const way = wayOf(project, model)
  return way === null ? [] : [way.text]
}

/** Of one that the next run builds for its inputs alone: what there is to know beyond that these have changed. */
export function keptTableNotes(context: RunContext, model: Model): readonly string[] {
  if (model.kind !== 'table' || !continuesTable(context, model)) return []
  if (context.borrowed !== null || !isWhatItWas(context, model)) return []
  const { inputs, never } = addressingOf(context.project, model)
  const isAlwaysUpdated = never === null && inputs.every(({ because }) => because === null)
  return isAlwaysUpdated ? [] : keptTableText(context.project, model)
}

function textOf({ text, line, of }: WhyRebuilt, model: Model): string {
  const where = of === model.name ? '' : ` in ${of}`
  return `${text}${where}${line === null ? '' : `, line ${line}`}`
}
