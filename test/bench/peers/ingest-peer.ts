// Events that are on disk before they are acknowledged: single ones of many connections, and batches of 1,000. All that was
// acknowledged must be there afterwards.

import { sql } from '../../../src/core/sql.ts'
import { queryWarehouse, startDaemon } from '../../support/daemon-process.ts'
import { workspace } from '../../support/workspace.ts'
import { BATCH, EVENT, EVENTS_MODEL, ndjsonRequest } from '../ingest.ts'
import { measureLoad, postRequest } from '../load.ts'
import { processorMsOf } from '../../support/processor-time.ts'
import { inTurn, type PeerBenchmark, type PeerFigure } from './peer.ts'

/** Of single events. */
const MANY_CONNECTIONS = 256
export const BATCH_CONNECTIONS = 16

export interface IngestServer extends AsyncDisposable {
  readonly pid: number
  /** Sends about as many events, one by one on each connection; gives how many, and in how many milliseconds. */
  single(events: number, connections: number): Promise<Sent>
  batches(events: number): Promise<Sent>
  /** Events that it has, with the values that were sent, where it can tell. */
  stored(): Promise<number>
}

export interface Sent {
  readonly events: number
  /** For those events. */
  readonly ms: number
  /** With those that are not timed. */
  readonly allEvents: number
}

interface IngestPeer extends Pick<
  PeerBenchmark,
  'name' | 'title' | 'version' | 'settings' | 'durability' | 'missing'
> {
  readonly goals: { readonly single: number | null; readonly batches: number | null }
  /** With which single events are compared too, as it takes fewer of them in a second with many. */
  readonly fewConnections?: number
  start(): Promise<IngestServer>
}

export const ingestComparison = (peer: IngestPeer): PeerBenchmark => ({
  ...peer,
  async run({ quick }) {
    await using eider = await startEider(quick ? 1_000 : 3_000)
    await using other = await peer.start()
    const rounds = quick ? 1 : 5
    const sent = { eider: 0, other: 0 }
    const compare = async (
      work: string,
      send: (server: IngestServer) => Promise<Sent>,
      goal: number | null,
    ): Promise<PeerFigure> => {
      const cost = async (server: IngestServer, whose: keyof typeof sent) => {
        const before = await processorMsOf(server.pid)
        const made = await send(server)
        const processorMs = (await processorMsOf(server.pid)) - before
        sent[whose] += made.allEvents
        return {
          ms: (made.ms * 1_000) / made.events,
          processorMs: (processorMs * 1_000) / made.allEvents,
        }
      }
      // The code of both is warm.
      for (const [whose, server] of [
        ['eider', eider],
        ['other', other],
      ] as const)
        await cost(server, whose)
      const costs = await inTurn(
        rounds,
        () => cost(eider, 'eider'),
        () => cost(other, 'other'),
      )
      return { work, ...costs, unit: 'µs', goal }
    }
    const single = (connections: number, goal: number | null) =>
      compare(
        `an event, ${connections} connections`,
        (server) => server.single(quick ? 5_000 : 100_000, connections),
        goal,
      )
    const figures = [
      await single(MANY_CONNECTIONS, peer.goals.single),
      ...(peer.fewConnections === undefined ? [] : [await single(peer.fewConnections, null)]),
      await compare(
        `an event in batches of ${BATCH.toLocaleString('en-US')}`,
        (server) => server.batches(quick ? 50_000 : 1_000_000),
        peer.goals.batches,
      ),
    ]
    for (const [name, server] of [
      ['eider', eider],
      ['other', other],
    ] as const) {
      const stored = await server.stored()
      const title = name === 'eider' ? name : peer.title
      if (stored < sent[name]) throw new Error(`${title} has ${stored} of ${sent[name]} events`)
    }
    return figures
  },
})

const { id, user_name, note } = JSON.parse(EVENT) as {
  readonly id: number
  readonly user_name: string
  readonly note: string
}

/** By time, so it takes the number of events for a hint. */
async function startEider(durationMs: number): Promise<IngestServer> {
  const space = await workspace({
    'eider.yml': 'name: bench\n',
    'models/raw/events.sql': EVENTS_MODEL,
  })
  const daemon = await startDaemon(space, '--quiet')
  const port = Number(new URL(daemon.url).port)
  const send = async (connections: number, request: string, eventsEach: number): Promise<Sent> => {
    const load = { port, connections, pipelined: 1, durationMs, request, status: 202 }
    const { answers, allAnswers, ms } = await measureLoad(load)
    return { events: answers * eventsEach, ms, allEvents: allAnswers * eventsEach }
  }
  return {
    pid: daemon.pid,
    single: (_, connections) => send(connections, postRequest('/collect/raw/events', EVENT), 1),
    batches: () => send(BATCH_CONNECTIONS, ndjsonRequest, BATCH),
    async stored() {
      await daemon.stop()
      await space.ok(['flush'], { timeoutMs: 600_000 })
      const [row] = await queryWarehouse(
        space,
        sql`SELECT count(*)::INTEGER AS n FROM raw.events
        WHERE id = ${sql.value(id)} AND user_name = ${sql.value(user_name)} AND note = ${sql.value(note)}`,
      )
      return Number(row?.['n'])
    },
    [Symbol.asyncDispose]: () => space[Symbol.asyncDispose](),
  }
}
