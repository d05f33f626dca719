// One piece of work done by eider and by a tool that a user would take instead, with equal results.

import { median } from '../figure.ts'
import type { Took } from '../processor-time.ts'

export interface PeerFigure {
  readonly work: string
  /** What both cost, in the same unit. */
  readonly eider: number
  readonly other: number
  readonly unit: string
  /** The same of processor time, which the load of the machine changes less; null where it is not known. */
  readonly processor: { readonly eider: number; readonly other: number } | null
  /** Cost of eider / cost of the peer; null for a figure without a goal. */
  readonly goal: number | null
}

export interface PeerOptions {
  readonly quick: boolean
}

export interface PeerBenchmark {
  readonly name: string
  /** With its version, unless `version` asks the program for it. */
  readonly title: string
  version?(): string
  /** Sentences: how it was set up, and how it was asked. */
  readonly settings: string
  /** A sentence: what it promises for the data, and what eider does. */
  readonly durability: string
  /** Lines that say what this machine lacks for it; none: it can be carried out. */
  missing?(): readonly string[]
  /** Throws where the peer cannot be installed, or where the results differ. */
  run(options: PeerOptions): Promise<readonly PeerFigure[]>
}

const ratioOf = ({ eider, other }: { readonly eider: number; readonly other: number }) =>
  eider / other

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

/** Works with this end are left out where there is little space. */
export const SHARED = ', 16 connections'

/** `work | eider | peer | ratio` of one peer. */
export function peerTable({ title }: PeerBenchmark, figures: readonly PeerFigure[]): string {
  const rows = figures.map((figure) => {
    const { work, eider, other, unit, processor, goal } = figure
    const ratio = ratioOf(figure)
    const verdict = goal === null ? '' : `at most ${goal}, ${ratio <= goal ? 'holds' : 'MISSED'}`
    const cost = (value: number) => `${shown(value)} ${unit}`
    const ofProcessor = processor === null ? '' : ratioOf(processor).toFixed(2)
    return row([work, cost(eider), cost(other), ratio.toFixed(2), ofProcessor, verdict])
  })
  return [
    row(['work', 'eider', title, 'ratio', 'of processor time', 'goal']),
    row(['---', '--:', '--:', '--:', '--:', '---']),
    ...rows,
  ].join('\n')
}

export interface Compared {
  readonly peer: PeerBenchmark
  readonly figures: readonly PeerFigure[]
}

/** A row for each work, with the ratios of its peers: whole, and of processor time. */
export function shortPeerTable(compared: readonly Compared[]): string {
  const all = compared.flatMap(({ peer, figures }) =>
    figures.map((figure) => ({ title: peer.title, figure })),
  )
  const works = new Set(all.map(({ figure }) => figure.work))
  const rows = [...works]
    .filter((work) => !work.endsWith(SHARED))
    .map((work) => {
      const found = all.filter(({ figure }) => figure.work === work)
      const whole = found.map(({ title, figure }) => `${title}: ${ratioOf(figure).toFixed(2)}`)
      const ofProcessor = found.map(({ figure: { processor } }) =>
        processor === null ? '-' : ratioOf(processor).toFixed(2),
      )
      return row([work, whole.join(', '), ofProcessor.join(', ')])
    })
  return [
    row(['work', 'cost of eider / cost of the peer', 'of processor time']),
    row(['---', '---', '---']),
    ...rows,
  ].join('\n')
}

const shown = (value: number) =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3)

/** Whole commands in turn; the medians of both clocks. */
export async function inTurn(
  rounds: number,
  ours: () => Promise<Took>,
  theirs: () => Promise<Took>,
): Promise<Pick<PeerFigure, 'eider' | 'other' | 'processor'>> {
  const [mine, others]: [Took[], Took[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    others.push(await theirs())
    mine.push(await ours())
  }
  const ms = (all: readonly Took[]) => median(all.map((took) => took.ms))
  const processorMs = (all: readonly Took[]) => median(all.map((took) => took.processorMs))
  return {
    eider: ms(mine),
    other: ms(others),
    processor: { eider: processorMs(mine), other: processorMs(others) },
  }
}
