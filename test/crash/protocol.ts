// The protocol between buffer, run and warehouse as a small machine: every interleaving of its steps and of crashes can
// be tried. Segments are whole here, as claims are; what happens inside one is the business of test/buffer.
//
//   buffer    a segment is sealed, claimed, returned or gone; the removal of a gone one is durable or not yet
//   warehouse rows of each segment, ack records, the fence; a commit changes all of them at once
//   runner    where it is in the eight steps, and what it believes; it may sleep there for as long as it likes
//
// Two runners work at once, which the run lock forbids on one machine: the protocol must hold without it.

export interface Rules {
  /** 5 before 6: the ack record is part of the transaction. Otherwise it is written after the COMMIT. */
  readonly recordInTransaction: boolean
  /** A commit of a segment at or below the fence is refused. */
  readonly fence: boolean
  /** A second record of one claim is refused. */
  readonly primaryKey: boolean
  /** A starting run looks at the ack records before it gives open claims back. */
  readonly recordsDecide: boolean
  /** A removal is on disk before the ack is answered, so before the record is deleted. */
  readonly durableRemoval: boolean
  /** 7 after 6: the segment is removed once its rows are committed. */
  readonly ackAfterCommit: boolean
  /** A segment at or below the fence that the buffer hands out again is removed: its removal was lost with the power. */
  readonly removeReturned: boolean
  /** Nobody commits a segment while an earlier one is in the buffer: behind the fence it would be taken for flushed. */
  readonly inOrder: boolean
  /** Only a run gives claims back. Otherwise a starting daemon does, and claims get new ids with each attempt. */
  readonly stableClaims: boolean
}

export const rules: Rules = {
  recordInTransaction: true,
  fence: true,
  primaryKey: true,
  recordsDecide: true,
  durableRemoval: true,
  ackAfterCommit: true,
  removeReturned: true,
  inOrder: true,
  stableClaims: true,
}

type SegmentState = 'absent' | 'sealed' | 'claimed' | 'returned' | 'gone'

interface Segment {
  readonly state: SegmentState
  /** The name that a power cut brings back: the last one that is on disk. */
  readonly onDisk: SegmentState
  /** How often it was handed out; part of the claim id where ids are not stable. */
  readonly attempt: number
}

type Step =
  'off' | 'starting' | 'idle' | 'claimed' | 'inserting' | 'unrecorded' | 'committed' | 'acked'

interface Runner {
  readonly step: Step
  /** The segment in work. */
  readonly segment: number
  readonly attempt: number
  /** The fence as it was when the run began, moved by its own commits. */
  readonly position: number
  /** Records that recovery has still to finish: read once, at the start. */
  readonly records: readonly string[]
}

export interface State {
  readonly segments: readonly Segment[]
  /** Rows of each segment: how often it was inserted. */
  readonly rows: readonly number[]
  readonly records: readonly string[]
  readonly fence: number
  readonly runners: readonly Runner[]
  /** Crashes, power cuts and starts that are left; they make the space finite. */
  readonly faults: number
}

interface Move {
  readonly name: string
  readonly next: State
}

const off: Runner = { step: 'off', segment: -1, attempt: 0, position: -1, records: [] }

export const initial = (segments: number, runners: number, faults: number): State => ({
  segments: Array.from({ length: segments }, () => ({
    state: 'absent',
    onDisk: 'absent',
    attempt: 0,
  })),
  rows: Array(segments).fill(0),
  records: [],
  fence: -1,
  runners: Array(runners).fill(off),
  faults,
})

/** null, or what is wrong for good: rows that are twice there, or an accepted segment that is nowhere. */
export function violation({ segments, rows }: State): string | null {
  for (const [i, count] of rows.entries()) {
    if (count > 1) return `segment ${i} is in the table ${count} times`
    if (count === 0 && segments[i]?.state === 'gone') return `segment ${i} is lost`
  }
  return null
}

/** Everything that may happen next. */
export function moves(state: State, by: Rules): readonly Move[] {
  return [
    ...appends(state),
    ...state.runners.flatMap((_, r) => runnerMoves(state, r, by)),
    ...(state.faults > 0 ? faults(state, by) : []),
  ]
}

function appends(state: State): Move[] {
  const next = state.segments.findIndex((segment) => segment.state === 'absent')
  if (next < 0) return []
  // A 202 is given once the segment is on disk, so an accepted one is there after every power cut.
  const made: Segment = { state: 'sealed', onDisk: 'sealed', attempt: 0 }
  return [{ name: `append ${next}`, next: withSegment(state, next, made) }]
}

function runnerMoves(state: State, r: number, by: Rules): Move[] {
  const runner = state.runners[r]!
  const { segment, attempt } = runner
  const move = (name: string, changed: Partial<Runner>, base: State = state): Move[] => [
    { name: `runner ${r}: ${name}`, next: withRunner(base, r, { ...runner, ...changed }) },
  ]
  const id = idOf(segment, attempt, by)
  const done: Partial<Runner> = { step: 'idle', segment: -1, attempt: 0 }
  switch (runner.step) {
    case 'off':
      return move('start', { step: 'starting', position: state.fence, records: state.records })
    case 'starting':
      return startMoves(state, r, by, move)
    case 'idle': {
      const next = state.segments.findIndex(({ state: s }) => s === 'sealed' || s === 'returned')
      if (next < 0) return []
      const claimed = claim(state, next, by)
      const { attempt: now } = claimed.segments[next]!
      // A claim says which segment was the oldest when it was made. What is gone by then does not come back later: it is
      // in the table. So what the run sees here stays true until it commits.
      if (by.inOrder && state.segments.slice(0, next).some(({ state: s }) => s !== 'gone'))
        return move(`claim ${next} too early`, off)
      if (by.removeReturned && next <= runner.position)
        return move(`remove returned ${next}`, done, remove(claimed, next, by))
      return move(`claim ${next}`, { step: 'claimed', segment: next, attempt: now }, claimed)
    }
    case 'claimed': // steps 2 to 5; the file may be gone by now, then the run fails and starts anew
      if (state.segments[segment]?.state === 'gone' || state.segments[segment]?.state === 'absent')
        return move('fail', off)
      if (!by.ackAfterCommit)
        return move(`ack ${segment} early`, { step: 'inserting' }, remove(state, segment, by))
      return move(`insert ${segment}`, { step: 'inserting' })
    case 'inserting':
      return commitMoves(state, r, by, move)
    case 'unrecorded':
      return move(`record ${id}`, { step: 'committed' }, withRecord(state, id))
    case 'committed':
      return move(`ack ${segment}`, { step: 'acked' }, remove(state, segment, by))
    case 'acked':
      return move(`delete record ${id}`, { ...done, position: segment }, withoutRecord(state, id))
  }
}

type MoveOf = (name: string, changed: Partial<Runner>, base?: State) => Move[]

/** Recovery: steps 7 and 8 for what has a record, one per move; then open claims go back. */
function startMoves(state: State, r: number, by: Rules, move: MoveOf): Move[] {
  const { records } = state.runners[r]!
  const [record, ...rest] = by.recordsDecide ? records : []
  if (record !== undefined) {
    const open = state.segments.findIndex(
      (segment, i) => segment.state === 'claimed' && idOf(i, segment.attempt, by) === record,
    )
    // The ack, then the deletion of the record: a crash may come between the two.
    if (open >= 0) return move(`ack ${record} again`, {}, remove(state, open, by))
    return move(`delete record ${record}`, { records: rest }, withoutRecord(state, record))
  }
  let back = state
  for (const [i, segment] of state.segments.entries())
    if (segment.state === 'claimed') back = rename(back, i, { ...segment, state: 'returned' })
  return move('take up', { step: 'idle' }, back)
}

function commitMoves(state: State, r: number, by: Rules, move: MoveOf): Move[] {
  const { segment, attempt } = state.runners[r]!
  const id = idOf(segment, attempt, by)
  const isFenced = by.fence && segment <= state.fence
  const isRecorded = by.primaryKey && state.records.includes(id)
  // A refused transaction changes nothing; the run gives its claim back unless a record says that it is committed.
  if (isFenced || isRecorded) {
    const found = state.segments[segment]!
    const returns = found.state === 'claimed' && !state.records.includes(id)
    const next = returns ? rename(state, segment, { ...found, state: 'returned' }) : state
    return move(`refused ${id}`, off, next)
  }
  const rows = state.rows.map((count, i) => (i === segment ? count + 1 : count))
  const inserted = { ...state, rows, fence: by.fence ? segment : state.fence }
  if (!by.recordInTransaction) return move(`commit ${id}`, { step: 'unrecorded' }, inserted)
  return move(`commit ${id}`, { step: 'committed' }, withRecord(inserted, id))
}

function faults(state: State, by: Rules): Move[] {
  const after = { ...state, faults: state.faults - 1 }
  const kills = state.runners.flatMap((runner, r) =>
    runner.step === 'off' ? [] : [{ name: `runner ${r} dies`, next: withRunner(after, r, off) }],
  )
  const segments = state.segments.map((segment) =>
    !by.stableClaims && segment.state === 'claimed'
      ? { ...segment, state: 'returned' as const }
      : segment,
  )
  const restart = { name: 'daemon restarts', next: { ...after, segments } }
  return [...kills, restart, ...powerCuts(after)]
}

/** The machine is gone, each change of a name that was not synced stays or is undone. The warehouse keeps its commits. */
function powerCuts(state: State): Move[] {
  let outcomes: (readonly Segment[])[] = [[]]
  for (const segment of state.segments) {
    const undone = { ...segment, state: segment.onDisk }
    const kept = { ...segment, onDisk: segment.state }
    const choices = segment.state === segment.onDisk ? [segment] : [undone, kept]
    outcomes = outcomes.flatMap((before) => choices.map((choice) => [...before, choice]))
  }
  const runners = state.runners.map(() => off)
  return outcomes.map((segments) => ({ name: 'power cut', next: { ...state, segments, runners } }))
}

const idOf = (segment: number, attempt: number, by: Rules) =>
  by.stableClaims ? `${segment}` : `${segment}.${attempt}`

function claim(state: State, i: number, by: Rules): State {
  const segment = state.segments[i]!
  const attempt = by.stableClaims ? 0 : segment.attempt + 1
  return rename(state, i, { ...segment, state: 'claimed', attempt })
}

/** Names of claims are synced before the call is answered. */
const rename = (state: State, i: number, segment: Segment) =>
  withSegment(state, i, { ...segment, onDisk: segment.state })

/** Once gone it stays so: an ack that is repeated changes nothing. */
function remove(state: State, i: number, by: Rules): State {
  const segment = state.segments[i]!
  if (segment.state === 'gone' || segment.state === 'absent') return state
  const onDisk = by.durableRemoval ? 'gone' : segment.onDisk
  return withSegment(state, i, { ...segment, state: 'gone', onDisk })
}

const withSegment = (state: State, i: number, segment: Segment): State => ({
  ...state,
  segments: state.segments.map((other, j) => (i === j ? segment : other)),
})

const withRunner = (state: State, r: number, runner: Runner): State => ({
  ...state,
  runners: state.runners.map((other, i) => (i === r ? runner : other)),
})

const withRecord = (state: State, id: string): State => ({
  ...state,
  records: [...state.records, id].toSorted(),
})

const withoutRecord = (state: State, id: string): State => ({
  ...state,
  records: state.records.filter((other) => other !== id),
})
