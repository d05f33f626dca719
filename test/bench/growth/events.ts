// Events that wait in the buffer, in few large segments or in many small ones.

import { rm } from 'node:fs/promises'
import { limits } from '../../../src/core/limits.ts'
import { type ModelName, parseModelName } from '../../../src/core/names.ts'
import type { Workspace } from '../../support/workspace.ts'
import { filledBuffer } from '../flush.ts'
import { openBuffer } from '../flush-run.ts'
import { takenByEider } from '../processor-time.ts'
import type { Curve } from './curve.ts'

const target = parseModelName('raw.events') as ModelName

export const eventsWaiting: Curve = {
  name: 'events-waiting',
  of: 'events waiting',
  about:
    'Events of 210 bytes wait in segments of 64 MiB. A process opens the buffer, as a daemon does when it starts; then `eider flush` moves all of them into their table.',
  sizes: [10_000, 100_000, 1_000_000],
  moreSizes: [10_000_000],
  async measure(events) {
    await using space = await filledBuffer(events, limits.segmentBytes)
    const opening = await openingMs(space)
    const { processorMs } = takenByEider(['flush'], space.dir)
    return [
      { operation: 'opening the buffer, an event', ms: opening, work: events },
      { operation: 'flush, an event', ms: processorMs, work: events },
    ]
  },
}

const EVENTS_OF_A_CLAIM = 10

export const claimsInFlight: Curve = {
  name: 'claims-in-flight',
  of: 'claims in flight',
  about: `Segments of ${EVENTS_OF_A_CLAIM} events each are all claimed and none is acknowledged, as after a crash of a run. A process opens the buffer and names its open claims; then a run finds out about each of them, and flushes it.`,
  sizes: [10, 100, 1_000, 5_000],
  moreSizes: [20_000],
  async measure(claims) {
    await using space = await filledBuffer(claims * EVENTS_OF_A_CLAIM, 1, {}, EVENTS_OF_A_CLAIM)
    {
      await using buffer = await openBuffer(space.dir, 1)
      for (let i = 0; i < claims; i++) await buffer.claim(target)
      const open = (await buffer.inflight(target)).length
      if (open !== claims) throw new Error(`${open} claims are open, not ${claims}`)
    }
    const opening = await openingMs(space)
    const { processorMs } = takenByEider(['flush'], space.dir)
    return [
      { operation: 'opening the buffer, a claim', ms: opening, work: claims },
      { operation: 'flush, a claim', ms: processorMs, work: claims },
    ]
  },
}

async function openingMs(space: Workspace): Promise<number> {
  const before = process.cpuUsage()
  {
    await using buffer = await openBuffer(space.dir, limits.segmentBytes)
    await buffer.inflight(target)
  }
  const { user, system } = process.cpuUsage(before)
  await rm(space.path('.eider', 'collect.lock'), { force: true })
  return (user + system) / 1_000
}
