// Both built services beside many slow clients, silent connections and broken requests: the next good request is
// answered, and when they are gone so is what they took.

import { startDaemon } from '../support/daemon-process.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { seededRandom } from '../support/seeded-random.ts'
import { type Running, type Workspace, workspace } from '../support/workspace.ts'
import { beSilent, crowd, readSlowly, sendGarbage, writeSlowly } from './bad-clients.ts'
import { isLong } from './generations.ts'
import { until } from '../support/until.ts'

const [SLOW, SILENT, BROKEN] = isLong ? [200, 1_000, 10_000] : [40, 200, 800]
const AT_ONCE = 20
/** A good request takes milliseconds; a machine that is busy with other tests, a second. */
const AT_ONCE_MS = 10_000
/** What allocators keep beside what is in use. */
const SLACK_BYTES = 96 * 1024 * 1024

const files = {
  'eider.yml': 'name: bad\n',
  'models/raw/events.sql': '-- @kind: events\nid BIGINT NOT NULL',
  'models/mart/rows.sql':
    "-- @expose id\nSELECT i AS id, repeat('text ', 20) || i AS text FROM range(20000) AS r(i)",
}

interface Service {
  readonly name: string
  start(space: Workspace): Promise<Running>
  /** Gives the status of a good request, another one each time. */
  ask(url: string, i: number): Promise<number>
  readonly goodStatus: number
  /** Requests with much to answer. */
  readonly large: string
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

const services: readonly Service[] = [
  {
    name: 'serve',
    start: (space) => space.start(['serve', '--port', '0', '--quiet']),
    ask: async (url, i) => (await fetch(`${url}/mart_rows(${i % 20_000})`)).status,
    goodStatus: 200,
    large: get('/odata/mart_rows').repeat(5),
  },
  {
    name: 'collect daemon',
    start: (space) => startDaemon(space, '--quiet'),
    async ask(url, id) {
      const headers = { 'Content-Type': 'application/json' }
      const body = JSON.stringify({ id })
      return (await fetch(`${url}/collect/raw/events`, { method: 'POST', headers, body })).status
    },
    goodStatus: 202,
    large: get('/metrics').repeat(500),
  },
]

/** Of another process; null where the system does not tell. */
function used(pid: number): { readonly files: number; readonly bytes: number } | null {
  if (process.platform !== 'linux') return null
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return { files: readdirSync(`/proc/${pid}/fd`).length, bytes: Number(kib) * 1024 }
}

for (const service of services)
  test(`${service.name}: slow, silent and broken clients harm nobody else`, async () => {
    await using space = await workspace(files)
    if (service.name === 'serve') await space.ok(['run', '--quiet'])
    const running = await service.start(space)
    const { url, pid } = running
    const random = seededRandom(20_260_401)
    let asked = 0
    const askGood = async (when: string) => {
      const startedAt = Date.now()
      assert.is(await service.ask(url, asked++), service.goodStatus, when)
      const tookMs = Date.now() - startedAt
      assert.ok(tookMs < AT_ONCE_MS, `${when}: ${tookMs} ms`)
    }
    const misbehave = async () => {
      using silent = await crowd(url, SILENT, beSilent)
      await askGood('beside silent connections')
      using _readers = await crowd(url, SLOW / 2, readSlowly(service.large))
      using writers = await crowd(url, SLOW / 2, writeSlowly)
      await askGood('beside slow clients')
      const statuses = new Map<number | null, number>()
      for (let sent = 0; sent < BROKEN; sent += AT_ONCE) {
        const batch = Array.from({ length: AT_ONCE }, () => sendGarbage(url, random))
        for (const status of await Promise.all(batch))
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (sent % 200 === 0) await askGood(`after ${sent} broken requests`)
      }
      await askGood('after broken requests')
      const wrong = [...statuses.keys()].filter((status) => status !== null && status >= 500)
      assert.equal(wrong, [], 'no broken request is a fault of the service')
      assert.ok((statuses.get(400) ?? 0) > BROKEN / 4)
      if (!isLong) return
      // Who does not finish its head in time is sent away.
      await until(() => silent.open <= SILENT / 3 + 1 && writers.open <= SLOW / 4 + 1)
      await askGood('after some were cut off')
    }

    for (let i = 0; i < 50; i++) await askGood('alone')
    const fresh = used(pid)
    await misbehave()
    await until(() => (used(pid)?.files ?? 0) <= (fresh?.files ?? 0) + 5)
    const once = used(pid)
    await misbehave()
    await until(() => (used(pid)?.files ?? 0) <= (fresh?.files ?? 0) + 5)
    for (let i = 0; i < 50; i++) await askGood('alone again')
    const twice = used(pid)
    process.stdout.write(
      `${[fresh, once, twice].map((one) => `${Math.round((one?.bytes ?? 0) / 2 ** 20)} MiB, ${one?.files} files`).join('; ')}\n`,
    )
    // What the first round has taken is there to be used again.
    assert.ok((twice?.bytes ?? 0) <= (once?.bytes ?? 0) + SLACK_BYTES)
    assert.not.match(running.stderr(), '"level":"error"')
    assert.is(await running.stop(), 0, 'with nobody left it stops at once')
  })

test.run()
