// Durable ingest against a server that does nothing: every 202 of ours is on disk and checked.

import { workspace } from '../workspace.ts'
import { startBareServer } from './bare-server.ts'
import { type Benchmark, interleaved } from './figure.ts'
import { measureLoad, postRequest } from './load.ts'

const CONNECTIONS = 256
const model = `-- @kind: events
id BIGINT NOT NULL, user_name VARCHAR NOT NULL, action VARCHAR, amount DECIMAL(18,4), ok BOOLEAN, at TIMESTAMPTZ, note VARCHAR`
const event = JSON.stringify({
  id: 9_007_199_254,
  user_name: 'user-000123@example.org',
  action: 'checkout',
  amount: '129.9500',
  ok: true,
  at: '2026-01-01T08:30:00.123Z',
  note: 'a remark of some length, as real events have them',
})

export const ingestBenchmark: Benchmark = {
  name: 'ingest',
  async run({ quick }) {
    await using space = await workspace({
      'eider.yml': 'name: bench\n',
      'models/raw/events.sql': model,
    })
    await using daemon = await space.start([
      'collect',
      'daemon',
      '--port',
      '0',
      '--admin-port',
      '0',
      '--quiet',
    ])
    await using bare = await startBareServer()
    const durationMs = quick ? 1_500 : 4_000
    const rate = async (port: number) => {
      const request = postRequest('/collect/raw/events', event)
      const result = await measureLoad({
        port,
        connections: CONNECTIONS,
        pipelined: 1,
        durationMs,
        request,
        status: 202,
      })
      return (result.answers / result.ms) * 1000
    }
    const rates = await interleaved(
      quick ? 1 : 3,
      () => rate(Number(new URL(daemon.url).port)),
      () => rate(bare.port),
    )
    const perSecond = (value: number) => `${Math.round(value).toLocaleString('en-US')}/s`
    return [
      {
        name: 'durable single events / bare node:http 202 server',
        ratio: rates.ours / rates.baseline,
        bound: { at: 'least', ratio: 0.85 },
        measured: `${perSecond(rates.ours)} of ${event.length} bytes, each synced before its 202, against ${perSecond(rates.baseline)}; ${CONNECTIONS} connections`,
      },
    ]
  },
}
