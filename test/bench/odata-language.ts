// What the language of a request costs: typical requests that no cache has seen, parsed, bound and made SQL, as a share
// of a lookup by key through the real server; and the slowest of the requests that are made to be slow.

import { Agent, request } from 'node:http'
import { InMemoryTables } from '../support/in-memory-tables.ts'
import { hostileQueries } from '../support/hostile-queries.ts'
import { workspace } from '../support/workspace.ts'
import { type Benchmark, median } from './figure.ts'

const model = `-- @kind: table
-- @expose id
SELECT i::INTEGER AS id, 'name ' || i AS name, (i / 100)::DECIMAL(18,4) AS price, DATE '2020-01-01' + (i % 2000)::INTEGER AS day
FROM range(100000) AS r(i)`

/** As reports, tables on a page and scripts ask; `n` makes each text new. */
const typical: readonly ((n: number) => string)[] = [
  (n) => `shop_orders?$filter=amount gt ${n} and status eq 'open'&$orderby=ordered_at desc&$top=10`,
  (n) =>
    `shop_customers?$filter=contains(name,'a${n}') or city in ('Paris','Rome')&$select=name,city&$count=true`,
  (n) =>
    `shop_orders?$filter=year(ordered_at) eq ${n} and customer/city eq 'Paris'&$expand=customer($select=name)`,
  (n) =>
    `shop_orders?$apply=filter(amount gt ${n})/groupby((status),aggregate(amount with sum as total))`,
  (n) =>
    `shop_orders?$filter=ordered_at ge 2024-01-01T00:00:00Z and ordered_at lt 2024-02-01T00:00:00Z and amount mul 2 gt ${n}&$skip=10`,
]

/** Requests of the same sort in a row. */
const BLOCK = 50

export const odataLanguageBenchmark: Benchmark = {
  name: 'odata-language',
  async *run({ quick }) {
    await using fixture = await InMemoryTables.open()
    await using space = await workspace({
      'eider.yml': 'name: bench\n',
      'models/shop/things.sql': model,
    })
    await space.ok(['run'])
    await using service = await space.start(['serve', '--port', '0', '--quiet'])
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = (query: string, body?: string) => timedMs(agent, `${service.url}/${query}`, body)

    const rounds = quick ? 1_000 : 5_000
    for (let n = 0; n < 2_000; n++) for (const make of typical) fixture.sql(make(n)).inline()
    for (let n = 0; n < 500; n++) await ask(`shop_things(${n})`)
    const compiling: number[] = []
    const lookups: number[] = []
    // In blocks: a client between two requests would push the compiler out of the processor's caches, and the client of a
    // service is another process.
    for (let first = 0; first < rounds; first += BLOCK) {
      for (let n = first; n < first + BLOCK; n++) {
        const target = typical[n % typical.length]!(10_000 + n)
        const startedAt = performance.now()
        fixture.sql(target).inline()
        compiling.push(performance.now() - startedAt)
      }
      for (let n = first; n < first + BLOCK; n++)
        lookups.push(await ask(`shop_things(${(n * 7919) % 100_000})`))
    }
    const slow: (readonly [ms: number, name: string])[] = []
    for (const [name, , query] of hostileQueries) {
      const times: number[] = []
      for (let i = 0; i < (quick ? 2 : 5); i++) times.push(await ask('shop_things/$query', query))
      slow.push([median(times), name])
    }
    agent.destroy()
    const [slowestMs, slowest] = slow.toSorted(([a], [b]) => b - a)[0]!
    yield* [
      {
        name: 'parsing and compiling a request that is new / a lookup by key over HTTP',
        ratio: median(compiling) / median(lookups),
        bound: { at: 'most', ratio: 0.05 },
        measured: `${(median(compiling) * 1000).toFixed(0)} us against ${median(lookups).toFixed(2)} ms; medians of ${rounds}`,
      },
      {
        name: 'the slowest of the hostile requests / 50 ms',
        ratio: slowestMs / 50,
        bound: { at: 'most', ratio: 1 },
        measured: `${slowest}: ${slowestMs.toFixed(0)} ms, of ${slow.length} requests`,
      },
    ]
  },
}

function timedMs(agent: Agent, url: string, body?: string): Promise<number> {
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const options =
      body === undefined
        ? { agent }
        : { agent, method: 'POST', headers: { 'Content-Type': 'text/plain' } }
    const sent = request(url, options, (response) => {
      response.resume()
      response.on('end', () => resolve(performance.now() - startedAt))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
