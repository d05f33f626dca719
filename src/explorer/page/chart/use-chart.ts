// A chart as a component has it: first the ends of x, where the groups depend on them, then the groups.

import { encodeOption } from '../address/encode.ts'
import type { Property } from '../model/schema.ts'
import { type AnswerState, useAnswer } from '../parts/use-answer.ts'
import type { Row } from '../model/value.ts'
import type { AnswerOptions, Service } from '../service/client.ts'
import { binsBetween } from './steps.ts'
import {
  boundsRequest,
  type ChartRequest,
  chartRequest,
  type Grouping,
  MOST_GROUPS,
} from './chart-request.ts'
import type { ChartState } from './chart-state.ts'
import { hasTime, isFloating, isIntegral, kindOf } from '../model/columns.ts'
import { unitBetween } from './time-units.ts'

const MOST_BINS = 40

interface Chart {
  /** What is shown at the moment, or what stopped it. */
  readonly answer: AnswerState<readonly Row[]>
  /** undefined while it is not known yet. */
  readonly request: ChartRequest | undefined
  readonly grouping: Grouping | undefined
  /** The whole query, relative to the root of the service. */
  readonly query: string | undefined
  readonly isTooLarge: boolean
}

interface ChartOf {
  readonly set: string
  readonly x: Property
  /** Properties of the set and its navigation. */
  readonly names: readonly string[]
}

export function useChart(state: ChartState, of: ChartOf): Chart {
  const { set, x, names } = of
  const path = encodeURIComponent(set)
  const bounds = boundsOf(state, x)
  const ends = useAnswer(
    bounds === null ? null : `${path}?$apply=${encodeOption(bounds)}`,
    async (service, request, options) => (await service.rows(request, options)).value[0] ?? {},
  )
  const grouping = groupingOf(state, x, bounds === null ? undefined : ends)
  // The path of x, with the type of what it leads to.
  const column = { ...x, name: state.x! }
  const request = grouping && chartRequest(state, grouping, { x: column, names })
  const query = request && `${path}?$apply=${encodeOption(request.apply)}&$top=${MOST_GROUPS + 1}`
  const rows = useAnswer(query ?? null, allRows)
  const answer = bounds !== null && ends.state === 'failed' ? ends : rows
  const isTooLarge = rows.state === 'here' && rows.value.length > MOST_GROUPS
  return { answer, request, grouping, query, isTooLarge }
}

/** The service may have smaller pages than a chart has groups. */
async function allRows(
  service: Service,
  request: string,
  options: AnswerOptions,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  let next: string | undefined = request
  while (next !== undefined && rows.length <= MOST_GROUPS) {
    const answer = await service.rows(next, { ...options, pageSize: MOST_GROUPS + 1 })
    rows.push(...answer.value)
    next = answer.next
  }
  return rows
}

/** null where the groups are known without. */
function boundsOf(state: ChartState, x: Property): string | null {
  const kind = kindOf(x)
  if (kind === 'time') return state.per === null ? boundsRequest(state, state.x!) : null
  return kind === 'number' ? boundsRequest(state, state.x!, isFloating(x)) : null
}

function groupingOf(
  state: ChartState,
  x: Property,
  ends: AnswerState<Row> | undefined,
): Grouping | undefined {
  const kind = kindOf(x)
  if (kind === 'time' && state.per !== null) return { by: 'time', unit: state.per }
  if (kind !== 'time' && kind !== 'number') return { by: 'value' }
  if (ends?.state !== 'here') return undefined
  const { lo, hi } = ends.value
  if (kind === 'time') {
    // Without a row there are no ends, and any unit shows nothing.
    if (typeof lo !== 'string' || typeof hi !== 'string') return { by: 'time', unit: 'day' }
    return { by: 'time', unit: unitBetween(lo, hi, { hasTime: hasTime(x) }) }
  }
  const [least, greatest] = [Number(lo ?? 0), Number(hi ?? 0)]
  const options = { most: MOST_BINS, isWhole: isIntegral(x) }
  return { by: 'bins', bins: binsBetween(least, greatest, options) }
}
