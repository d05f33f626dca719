// A buffer of segment files that tells what was asked of it, and keeps its promises no better than it must.

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Claim, ClaimSource } from '../../src/buffer/claim-source.ts'
import type { ModelName } from '../../src/core/names.ts'
import { modelName } from './model-name.ts'

interface Segment {
  readonly claim: Claim
  claimed: boolean
}

export class FakeClaims implements ClaimSource {
  /** Such as `claim raw.e/1`, in order. */
  readonly calls: string[] = []
  readonly segments: Segment[] = []
  readonly #dir: string
  #seq = 1
  #next = 1

  constructor(dir: string) {
    this.#dir = dir
  }

  /** A sealed segment with the events as they are given, and a marker after each second one. */
  async add(
    target: string,
    events: readonly unknown[],
    options: {
      readonly time?: string
      readonly segment?: number
      readonly opening?: number
      readonly counted?: number
      readonly bytes?: number
    } = {},
  ): Promise<Claim> {
    const { time = '2026-01-01T00:00:00.000Z', segment = this.#next++ } = options
    const { opening = 1, bytes = 1 } = options
    const firstSeq = this.#seq
    const lines = events.flatMap((event, i) => {
      const text = typeof event === 'string' ? event : JSON.stringify(event)
      const line = `{"s":${this.#seq++},"t":"${time}","e":${text}}`
      return i % 2 === 0 ? [line] : [line, '{"$commit":{"n":2,"len":1,"crc":1}}']
    })
    const path = join(this.#dir, `${target}-${segment}.ndjson`)
    await mkdir(this.#dir, { recursive: true })
    await writeFile(path, lines.map((line) => line + '\n').join(''))
    const claim = {
      id: `${target}/${segment}`,
      target: modelName(target),
      segment,
      opening,
      oldestSegment: segment,
      events: options.counted ?? events.length,
      bytes,
      collector: 'here',
      url: pathToFileURL(path).href,
      firstSeq,
      lastSeq: this.#seq - 1,
      newest: time,
    }
    this.segments.push({ claim, claimed: false })
    return claim
  }

  targets(): Promise<readonly ModelName[]> {
    return Promise.resolve([...new Set(this.segments.map(({ claim }) => claim.target))])
  }

  inflight(target: ModelName): Promise<readonly Claim[]> {
    return Promise.resolve(
      this.#of(target)
        .filter(({ claimed }) => claimed)
        .map(({ claim }) => claim),
    )
  }

  verify(claim: Claim): Promise<Claim> {
    return Promise.resolve(claim)
  }

  damaged() {
    return Promise.resolve([])
  }

  claim(target: ModelName): Promise<Claim | null> {
    const next = this.#of(target).find(({ claimed }) => !claimed)
    if (next === undefined) return Promise.resolve(null)
    next.claimed = true
    this.calls.push(`claim ${next.claim.id}`)
    const oldestSegment = this.#of(target)[0]?.claim.segment ?? 0
    return Promise.resolve({ ...next.claim, oldestSegment })
  }

  async ack({ id }: Pick<Claim, 'id'>): Promise<number> {
    this.calls.push(`ack ${id}`)
    const index = this.segments.findIndex(({ claim }) => claim.id === id)
    const [removed] = index < 0 ? [] : this.segments.splice(index, 1)
    if (removed === undefined) return 0
    await rm(new URL(removed.claim.url), { force: true })
    return removed.claim.events
  }

  nack({ id }: Pick<Claim, 'id'>): Promise<number> {
    this.calls.push(`nack ${id}`)
    const segment = this.segments.find(({ claim }) => claim.id === id)
    if (segment?.claimed !== true) return Promise.resolve(0)
    segment.claimed = false
    return Promise.resolve(segment.claim.events)
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #of(target: ModelName): readonly Segment[] {
    return this.segments
      .filter(({ claim }) => claim.target === target)
      .toSorted((a, b) => a.claim.segment - b.claim.segment)
  }
}
