// Every state that the protocol of the flush can reach, by breadth-first search: none loses or doubles. With one rule
// broken the same search finds the way to a loss or a double, which shows that it can.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { initial, moves, type Rules, rules, type State, violation } from './protocol.ts'

const SEGMENTS = 3
const RUNNERS = 2
const FAULTS = 4

interface Search {
  readonly states: number
  /** States in which every segment is in the table, out of the buffer, without a record and without a run at work. */
  readonly settled: number
  /** null, or the violation and the moves that lead to it: the shortest way there is. */
  readonly found: { readonly what: string; readonly path: readonly string[] } | null
}

function search(by: Rules): Search {
  const start = initial(SEGMENTS, RUNNERS, FAULTS)
  const cameFrom = new Map<string, { readonly from: string; readonly by: string } | null>()
  cameFrom.set(JSON.stringify(start), null)
  let settled = 0
  for (let level: readonly State[] = [start]; level.length > 0;) {
    const next: State[] = []
    for (const state of level) {
      const key = JSON.stringify(state)
      const what = violation(state)
      if (what !== null)
        return { states: cameFrom.size, settled, found: { what, path: pathTo(key, cameFrom) } }
      if (isSettled(state)) settled++
      for (const move of moves(state, by)) {
        const nextKey = JSON.stringify(move.next)
        if (cameFrom.has(nextKey)) continue
        cameFrom.set(nextKey, { from: key, by: move.name })
        next.push(move.next)
      }
    }
    level = next
  }
  return { states: cameFrom.size, settled, found: null }
}

function pathTo(
  key: string,
  cameFrom: ReadonlyMap<string, { readonly from: string; readonly by: string } | null>,
): readonly string[] {
  const path: string[] = []
  for (let at = cameFrom.get(key); at != null; at = cameFrom.get(at.from)) path.unshift(at.by)
  return path
}

const isSettled = ({ segments, rows, records }: State) =>
  segments.every(({ state }) => state === 'gone') &&
  rows.every((count) => count === 1) &&
  records.length === 0

test('no reachable state loses or doubles an event', () => {
  const { states, settled, found } = search(rules)
  assert.equal(found, null)
  assert.ok(states > 10_000, `only ${states} states`)
  assert.ok(settled > 0, 'no run ever gets everything into the table')
  process.stdout.write(`${states} states, ${settled} of them settled\n`)
})

test('nor on a disk that brings a removed segment back after a power cut', () => {
  const { found } = search({ ...rules, durableRemoval: false })
  assert.equal(found, null)
})

const broken: Readonly<Record<string, Partial<Rules>>> = {
  'the ack record is written after the commit': { recordInTransaction: false, fence: false },
  'there is neither fence nor memory of it': { fence: false, removeReturned: false },
  'a run gives claims back without a look at the records': { recordsDecide: false, fence: false },
  'the ack is sent before the commit': { ackAfterCommit: false },
  'a record is deleted before the removal is on disk': {
    durableRemoval: false,
    fence: false,
    removeReturned: false,
  },
  'a segment overtakes an earlier one that another runner holds': { inOrder: false },
  'a starting daemon gives claims back under new ids': { stableClaims: false, fence: false },
}

for (const [name, changed] of Object.entries(broken))
  test(`found: ${name}`, () => {
    const { found } = search({ ...rules, ...changed })
    assert.ok(found, 'the search found nothing wrong')
    process.stdout.write(`${found.what} after: ${found.path.join('; ')}\n`)
  })

test.run()
