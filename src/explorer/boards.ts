// GET /boards.json: the boards of the project, as their files are now, of which each reader gets the charts of its own sets,
// and who may read all of them how many files were not read.

import type { Board, Boards, ShownBoard } from '../core/boards.ts'
import { entitySetName } from '../core/names.ts'
import type { Snapshot } from '../core/snapshot.ts'
import { keepCoded } from '../http/content-coding.ts'
import type { SidePage } from '../http/side-pages.ts'

/** `isWhole`: whether the reader may read all sets. */
export function boardsPage(
  { boards, omitted }: Boards,
  snapshot: Snapshot | null,
  isWhole: boolean,
): SidePage {
  const relations = snapshot?.relations ?? []
  const sets = new Set<string>(relations.map(({ model }) => entitySetName(model)))
  const shown = boards
    .map((board) => shownOf(board, sets))
    .filter(({ charts }) => charts.length > 0)
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' }
  const body = keepCoded(
    Buffer.from(JSON.stringify({ boards: shown, omitted: isWhole ? omitted : 0 })),
  )
  return { status: 200, headers, body }
}

/** What is said of a whole board may be about the charts that are left out. */
function shownOf(board: Board, sets: ReadonlySet<string>): ShownBoard {
  const charts = board.charts.filter(({ set }) => sets.has(set))
  const hidden = board.charts.length - charts.length
  return { ...board, description: hidden === 0 ? board.description : null, charts, hidden }
}
