// Faults that eider had, put back into its code when a process loads it: the simulation has to find each of them.

import type { Plan } from './plan.ts'

interface Fault {
  /** Below src/. */
  readonly file: string
  /** As the bundler prints it. */
  readonly sound: string
  readonly faulty: string
  /** What has to befall a life that can show it, so that few are needed. */
  readonly plan: Partial<Plan>
  /** A seed that finds it, to begin with. */
  readonly seed: number
  /** What the simulation says of it. */
  readonly found: RegExp
}

export const faults: Readonly<Record<string, Fault>> = {
  'a torn log of the warehouse stops the run': {
    file: 'store/files/log-repair.ts',
    sound: 'if (judged.isBad)',
    faulty: 'if (false)',
    plan: { cuts: true, trouble: false, flips: false },
    seed: 44,
    found: /a run ended: the warehouse .* is damaged/,
  },
  'a bit that has changed in the buffer changes what is stored': {
    file: 'pipeline/flush/flush.ts',
    sound: 'return await deps.claims.verify(claim)',
    faulty: 'return claim',
    plan: { flips: true, trouble: false, network: false, kills: false, moves: false },
    seed: 9,
    found: /was changed|is lost|in part|a run failed|twice/,
  },
  'a state that was moved away takes events that nobody reads': {
    file: 'buffer/store.ts',
    sound: 'await open.file.fdatasync(open.path);\n\t\t\tthis.#options.checkLock()',
    faulty: 'await open.file.fsync()',
    plan: { moves: true, flips: false, trouble: false },
    seed: 9,
    found: /was accepted and is lost/,
  },
  'a clock that was ahead makes runs leave events': {
    file: 'pipeline/flush/flush.ts',
    sound: 'newestMs >= nowMs - (performance.now() - beganMs) && newestMs - nowMs',
    faulty: '0',
    plan: { clock: true, kills: true, flips: false, trouble: false },
    seed: 13,
    found: /was accepted and is (lost|there in part)/,
  },
  'a clock that is ahead for a moment makes the daemon forget its keys': {
    file: 'buffer/key-memory.ts',
    sound: 'performance.now()',
    faulty: 'Date.now()',
    plan: {
      clock: true,
      network: true,
      cuts: false,
      kills: false,
      flips: false,
      trouble: false,
      moves: false,
    },
    seed: 10,
    found: /is there twice/,
  },
  'the watermark of one collector hides events of another': {
    file: 'pipeline/changes/touched.ts',
    sound: 'if (following === null) return null;',
    faulty: 'return { ranges: [], others: [] };',
    plan: { collectors: 2, flips: false, moves: false, trouble: false },
    seed: 1,
    found: /mart\.kept has \d+ rows too few/,
  },
  'a clock that was ahead makes a pull show an older state': {
    file: 'store/lake/published-states.ts',
    sound: 'FROM _eider.published ORDER BY seq DESC`',
    faulty: 'FROM _eider.published ORDER BY published_at DESC`',
    plan: { clock: true, pulls: true, cuts: false, kills: false, flips: false, trouble: false },
    seed: 14,
    found: /there is no peace|and one before had/,
  },
}
