// What boards show of the models. A chart whose set or column is gone, or whose address says what no chart understands,
// is a warning: rows do not depend on it.

import { chartMethods, chartOptions, chartPeriods } from '../core/boards.ts'
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
      if (model !== undefined)
        return [...optionMistakes(chart, source), ...columnMistakes(chart, model, source)]
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
  const unknown = (name: string, known: readonly string[], what: string) => {
    if (name === '' || name.includes('/') || known.includes(name)) return []
    const hint = didYouMean(name, known) ?? `there are ${known.slice(0, 10).join(', ') || 'none'}`
    return [diagnostic('board-unknown-name', { set, what, name }, { source, span }, hint)]
  }
  return [
    ...['x', 'y', 'by'].flatMap((option) => {
      const name = options.get(option) ?? ''
      const isOfMeasure = option === 'y' && isMeasure
      return unknown(name, isOfMeasure ? measures : columns, isOfMeasure ? 'measure' : 'column')
    }),
    ...namesIn(options.get('$filter') ?? '').flatMap((name) => unknown(name, columns, 'column')),
  ]
}

/** What the page of a chart would pass over in silence. */
function optionMistakes({ query, span }: PlacedChart, source: SourceFile): readonly Diagnostic[] {
  const options = new URLSearchParams(query)
  const unknown = (what: string, name: string | null, known: readonly string[]) => {
    if (name === null || name === '' || known.includes(name)) return []
    const hint = didYouMean(name, known) ?? `there are ${known.join(', ')}`
    return [diagnostic('board-unknown-option', { what, name }, { source, span }, hint)]
  }
  return [
    ...[...options.keys()].flatMap((name) => unknown('option', name, chartOptions)),
    ...unknown('method', options.get('method'), [...chartMethods, 'measure']),
    ...unknown('period', options.get('per'), chartPeriods),
  ]
}

const WORDS = new Set(
  'eq ne gt ge lt le and or not in has add sub mul div divby mod null true false NaN INF'.split(
    ' ',
  ),
)
/** A name that is no function, no step of a path and no part of a value. */
const NAME = /(?<![\w/.$@:-])[A-Za-z_]\w*(?![\w(/.:-])/g

/** Names of a filter that are columns of its set for certain; none where names are of items. */
function namesIn(filter: string): readonly string[] {
  const withoutTexts = filter.replaceAll(/\w*'(?:[^']|'')*'/g, "''")
  if (/\b(?:any|all)\s*\(/i.test(withoutTexts)) return []
  // What is compared with null may be an entity that the rows lead to.
  const compared = withoutTexts.replaceAll(/\w+ (?:eq|ne) null\b/gi, '')
  const names = Array.from(compared.matchAll(NAME), ([name]) => name)
  return [...new Set(names)].filter((name) => !WORDS.has(name) && !WORDS.has(name.toLowerCase()))
}
