// Boards: pages of charts that a project keeps as files, boards/<name>.yml. A browser loads this file.

/** The options of the address of a chart. */
export const chartOptions = [
  'x',
  'y',
  'method',
  'by',
  'per',
  'first',
  '$filter',
  'compare',
] as const

export const chartMethods = ['sum', 'average', 'min', 'max', 'count', 'countdistinct'] as const

/** What a chart may be asked for with `per`. */
export const chartPeriods = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const

export interface Board {
  /** Of its file, without `.yml`. */
  readonly name: string
  readonly title: string
  readonly description: string | null
  readonly charts: readonly BoardChart[]
}

export interface BoardChart {
  /** null: as the chart names itself. */
  readonly title: string | null
  /** What is to be seen in it. */
  readonly text: string | null
  readonly set: string
  /** What follows the question mark of the address of the chart in the explorer. */
  readonly query: string
}

/** Those of a project, as far as they are read. */
export interface Boards {
  readonly boards: readonly Board[]
  /** Files that are not read, because there are more than `limits.boards`. */
  readonly omitted: number
}

/** A board as a service sends it, with the charts that its reader may see. */
export interface ShownBoard extends Board {
  /** Charts that are left out: their sets are not published, or are not for this reader. */
  readonly hidden: number
}

/**
 * The set and the query of a chart's address, as a browser shows it or from `/sets/` on: `/sets/core_orders/chart?x=day`.
 * null for any other text.
 */
export function readChartAddress(text: string): Pick<BoardChart, 'set' | 'query'> | null {
  const [, encoded, query = ''] =
    /(?:^|\/)sets\/([^/?#(]+)\/chart\/?(?:\?([^#]*))?(?:#.*)?$/.exec(text) ?? []
  if (encoded === undefined) return null
  try {
    return { set: decodeURIComponent(encoded), query }
  } catch {
    return null
  }
}
