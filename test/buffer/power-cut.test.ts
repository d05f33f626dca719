// A small life of a buffer on a disk that loses power at its nth operation, for every n: what was acknowledged is there
// once, what was not is there as a whole or not at all, and no number is used twice.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { EventBuffer } from '../../src/buffer/buffer.ts'
import type { Claim } from '../../src/buffer/claim-source.ts'
import { TIME, eventBytes, openBuffer, readClaim, target } from '../support/open-buffer.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { FakeFiles, type Survival } from '../support/fake-files.ts'

const SEGMENT_BYTES = 600

/** What the users of the buffer know at a point of its life. */
interface Known {
  /** Calls that were begun, by number; each of three events. Resolved ones are accepted. */
  begun: number
  readonly accepted: Set<number>
  /** Events in the table of a run that committed before it acked. */
  readonly flushed: Set<string>
  /** Claims whose ack was begun: their events are in `flushed`, so they may come back only as this claim. */
  readonly acked: Map<string, 'begun' | 'done'>
  highestSegment: number
  highestSeq: number
}

const newKnown = (): Known => ({
  begun: 0,
  accepted: new Set(),
  flushed: new Set(),
  acked: new Map(),
  highestSegment: 0,
  highestSeq: 0,
})

async function append(buffer: EventBuffer, known: Known): Promise<void> {
  const call = known.begun++
  const events = [0, 1, 2].map((i) => eventBytes(`${call}/${i}`))
  await buffer.append(target, events, TIME)
  known.accepted.add(call)
}

/** As a run does: a claim with an ack record is only acked, another one is flushed first. */
async function flush(buffer: EventBuffer, known: Known, files: FakeFiles, claim: Claim) {
  const events = await readClaim(claim, files)
  if (!known.acked.has(claim.id)) {
    assert.ok(claim.segment > known.highestSegment, `segment ${claim.segment} was used before`)
    assert.ok(
      claim.firstSeq > known.highestSeq,
      `sequence number ${claim.firstSeq} was used before`,
    )
    known.highestSegment = claim.segment
    known.highestSeq = claim.lastSeq
    for (const { event } of events) {
      assert.not(known.flushed.has(event as string), `${event as string} came twice`)
      known.flushed.add(event as string)
    }
  }
  assert.is.not(known.acked.get(claim.id), 'done', 'an acked claim came back')
  known.acked.set(claim.id, 'begun')
  await buffer.ack(claim)
  known.acked.set(claim.id, 'done')
}

type Recover = (buffer: EventBuffer, known: Known, files: FakeFiles) => Promise<void>

async function live(
  buffer: EventBuffer,
  known: Known,
  files: FakeFiles,
  recover: Recover,
): Promise<void> {
  await append(buffer, known)
  await Promise.all([append(buffer, known), append(buffer, known)])
  const first = await buffer.claim(target)
  for (let i = 0; i < 8; i += 1) await append(buffer, known)
  if (first !== null) await flush(buffer, known, files, first)
  const second = await buffer.claim(target)
  if (second !== null) await buffer.nack(second)
  await Promise.all([append(buffer, known), recover(buffer, known, files)])
  await append(buffer, known)
  await recover(buffer, known, files)
}

/** Everything that is there goes to the table. */
async function recoverOneByOne(buffer: EventBuffer, known: Known, files: FakeFiles): Promise<void> {
  for (const claim of await buffer.inflight(target)) await flush(buffer, known, files, claim)
  for (let claim = await buffer.claim(target); claim !== null; claim = await buffer.claim(target))
    await flush(buffer, known, files, claim)
}

/** The same, with one removal for what a run has committed together. */
async function recoverAtOnce(buffer: EventBuffer, known: Known, files: FakeFiles): Promise<void> {
  const claims = [...(await buffer.inflight(target))]
  for (let claim = await buffer.claim(target); claim !== null; claim = await buffer.claim(target))
    claims.push(claim)
  await Promise.all(claims.map((claim) => flush(buffer, known, files, claim)))
}

/** null, or what is lost or there in part. */
function findLoss(known: Known): string | null {
  for (let call = 0; call < known.begun; call += 1) {
    const there = [0, 1, 2].filter((i) => known.flushed.has(`${call}/${i}`)).length
    if (there !== 0 && there !== 3) return `call ${call} is there in part`
    if (known.accepted.has(call) && there === 0) return `call ${call} was accepted and is lost`
  }
  return null
}

async function lifeWithCut(
  directory: string,
  at: number,
  when: 'before' | 'after',
  survival: Survival,
  seed: number,
  recover: Recover,
): Promise<{ readonly completed: boolean }> {
  const files = new FakeFiles({ seed })
  const known = newKnown()
  files.stopAt(at, when)
  const options = { files, segmentBytes: SEGMENT_BYTES }
  const life = async (use: typeof live) => {
    const buffer = await openBuffer(directory, options)
    await use(buffer, known, files, recover)
    await buffer[Symbol.asyncDispose]()
  }
  await life(live).catch((error: unknown) => {
    if (!files.isOff) throw error
  })
  const completed = !files.isOff
  files.restart(survival)
  // The power may go again while the buffer recovers.
  for (let again = 1 + Math.floor(files.random() * 40); ; again *= 2) {
    files.stopAt(again, files.random() < 0.5 ? 'before' : 'after')
    const recovered = await life(recover).then(
      () => true,
      (error: unknown) => {
        if (!files.isOff) throw error
        return false
      },
    )
    files.restart(survival)
    if (recovered) break
  }
  assert.is(findLoss(known), null)
  await life(live)
  assert.is(findLoss(known), null)
  return { completed }
}

for (const [survival, seeds, recover] of [
  ['nothing', 1, recoverOneByOne],
  ['some', 6, recoverOneByOne],
  ['everything', 1, recoverOneByOne],
  ['some', 3, recoverAtOnce],
] as const)
  test(`power cut at every operation; of what was not synced ${survival} survives; ${recover.name}`, async () => {
    await using directory = await temporaryDirectory()
    let operations = 0
    for (let completed = false; !completed;) {
      operations += 1
      for (let seed = 1; seed <= seeds; seed += 1)
        for (const when of ['before', 'after'] as const) {
          const life = lifeWithCut(
            directory.path,
            operations,
            when,
            survival,
            100 * operations + seed,
            recover,
          )
          ;({ completed } = await life)
        }
    }
    assert.ok(operations > 60, `only ${operations} operations`)
  })

test('control: the same check finds the loss on a disk that does not sync', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles({ syncs: false })
  const known = newKnown()
  const buffer = await openBuffer(directory.path, { files })
  await append(buffer, known)
  files.restart('nothing')
  await recoverOneByOne(await openBuffer(directory.path, { files }), known, files)
  assert.is(findLoss(known), 'call 0 was accepted and is lost')
})

test.run()
