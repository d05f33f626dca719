// What boards show of the models. A chart whose set or column is gone is a warning: rows do not depend on it.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import { entitySetName } from '../core/names.ts'
import type { PlacedBoard, PlacedChart } from '../core/project.ts'
import type { SourceFile } from '../core/source-text.ts'
import { didYouMean } from '../core/suggest.ts'

type Known = Pick<CompiledProject, 'models' | 'failed'>

export function boardMistakes(
  boards: readonly PlacedBoard[],
  { models, failed }: Known,
): readonly Diagnostic[] {
  const exposed = [...models.values()].filter(({ expose }) => expose !== null)
  const sets = new Map<string, Model>(exposed.map((model) => [entitySetName(model.name), model]))
  const unknown = new Set<string>(Array.from(failed.keys(), entitySetName))
  return boards.flatMap(({ source, charts }) =>
    charts.flatMap((chart) => {
      const { set, span } = chart
      const model = sets.get(set)
      if (model !== undefined) return columnMistakes(chart, model, source)
      if (unknown.has(set)) return []
      const hint = didYouMean(set, sets.keys()) ?? 'a set is a model with @expose'
      return [diagnostic('board-unknown-set', { set }, { source, span }, hint)]
    }),
  )
}

/** Paths to other sets are left to the service, which knows where they lead. */
function columnMistakes(
  { query, set, span }: PlacedChart,
  model: Model,
  source: SourceFile,
): readonly Diagnostic[] {
  const options = new URLSearchParams(query)
  const columns = model.columns.map(({ name }) => name)
  const measures = model.meaning?.measures.map(({ name }) => name) ?? []
  const isMeasure = options.get('method') === 'measure'
  return ['x', 'y', 'by'].flatMap((option) => {
    const name = options.get(option) ?? ''
    const known = option === 'y' && isMeasure ? measures : columns
    if (name === '' || name.includes('/') || known.includes(name)) return []
    const parameters = { set, what: option === 'y' && isMeasure ? 'measure' : 'column', name }
    const hint = didYouMean(name, known) ?? `there are ${known.slice(0, 10).join(', ') || 'none'}`
    return [diagnostic('board-unknown-name', parameters, { source, span }, hint)]
  })
}
