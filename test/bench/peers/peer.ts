// One piece of work done by eider and by a tool that a user would take instead, with equal results.

export interface PeerFigure {
  readonly work: string
  readonly peer: string
  /** What both cost, in the same unit. */
  readonly eider: number
  readonly other: number
  readonly unit: string
  /** Cost of eider / cost of the peer; null for a figure without a goal. */
  readonly goal: number | null
  /** Settings, and what each promises for the data. */
  readonly note: string
}

export interface PeerOptions {
  readonly quick: boolean
}

export interface PeerBenchmark {
  readonly name: string
  /** Throws where the peer cannot be installed, or where the results differ. */
  run(options: PeerOptions): Promise<readonly PeerFigure[]>
}

/** `work | eider | peer | ratio`, as docs/performance.md shows it. */
export function peerTable(figures: readonly PeerFigure[]): string {
  const rows = figures.map(({ work, peer, eider, other, unit, goal, note }) => {
    const ratio = eider / other
    const verdict = goal === null ? '' : `, at most ${goal}: ${ratio <= goal ? 'holds' : 'MISSED'}`
    const cost = (value: number) => `${value.toPrecision(3)} ${unit}`
    return `| ${work} | ${cost(eider)} | ${peer}: ${cost(other)} | ${ratio.toFixed(2)}${verdict} | ${note} |`
  })
  return ['| work | eider | peer | ratio | note |', '| - | - | - | - | - |', ...rows].join('\n')
}
