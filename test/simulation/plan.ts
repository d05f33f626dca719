// What may befall a life, and what has. Most lives have some of it only: what all of it hides, a few show.

import type { World } from './world.ts'

export interface Plan {
  /** Things that are done before there is peace. */
  readonly steps: number
  /** Share of steps before which somebody outside does something. */
  readonly busy: number
  readonly collectors: 1 | 2
  /** Processes are killed. */
  readonly kills: boolean
  /** The power goes. */
  readonly cuts: boolean
  /** Connections break. */
  readonly network: boolean
  /** The disk is full, or fails. */
  readonly trouble: boolean
  /** The clock is set. */
  readonly clock: boolean
  /** Bits change on disk. */
  readonly flips: boolean
  /** The state is moved away under a daemon. */
  readonly moves: boolean
  /** Another machine pulls what is published, and has a service. */
  readonly pulls: boolean
}

export const planOf = (world: World): Plan => ({
  steps: 300 + world.upTo(1_200),
  busy: world.oneOf([0.03, 0.06, 0.12]),
  collectors: world.chance(0.3) ? 2 : 1,
  kills: world.chance(0.5),
  cuts: world.chance(0.6),
  network: world.chance(0.4),
  trouble: world.chance(0.25),
  clock: world.chance(0.3),
  flips: world.chance(0.25),
  moves: world.chance(0.1),
  pulls: world.chance(0.3),
})

/** What came of it. */
export interface Lived {
  readonly seed: number
  /** null: all that must hold holds. */
  readonly wrong: string | null
  /** Of all that happened, with the bytes that were written. */
  readonly digest: string
  readonly lines: readonly string[]
  readonly accepted: number
  readonly cuts: number
  readonly runs: number
  /** Of those, runs that have done all of their work. */
  readonly done: number
  readonly answers: number
}
