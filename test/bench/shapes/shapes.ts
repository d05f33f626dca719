// Everyday forms of events, requests and lookups, each beside the best one of its kind.

import type { Benchmark } from '../figure.ts'
import { eventShapes } from './event-shapes.ts'
import { lookupShapes, memoryShape } from './lookup-shapes.ts'

export const shapesBenchmark: Benchmark = {
  name: 'shapes',
  missing: () => (process.platform === 'linux' ? [] : ['it reads processor times from /proc']),
  async *run({ quick }) {
    yield* eventShapes(quick)
    yield* lookupShapes(quick)
    yield* memoryShape(quick)
  },
}
