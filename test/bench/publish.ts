// What publishing costs beside building, and how soon a service answers from what was published.

import { link, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseManifest, printManifest } from '../../src/core/snapshot.ts'
import type { Workspace } from '../support/workspace.ts'
import { type Benchmark, type Figure, median } from './figure.ts'
import { publishedTable, type Served, serveTable, TABLE_FILE, tableModel } from './served.ts'

const SWAP_MS = 60
/** Between two swaps; no run builds and publishes in less. */
const APART_MS = 400

export const publishBenchmark: Benchmark = {
  name: 'publish',
  async *run({ quick }) {
    const rows = quick ? 200_000 : 1_000_000
    await using space = await publishedTable(rows)
    const built: number[] = []
    const published: number[] = []
    for (let round = 1; round <= (quick ? 2 : 5); round++) {
      await space.write(TABLE_FILE, tableModel(rows, round))
      const { stdout } = await space.ok(['run', '--json'])
      const events = stdout
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as { readonly event: string; readonly ms: number })
      const msOf = (name: string) => events.find(({ event }) => event === name)!.ms
      built.push(msOf('model-finished'))
      published.push(msOf('published'))
    }
    yield* [
      {
        name: 'publish / build of the model',
        ratio: median(published) / median(built),
        bound: { at: 'most', ratio: 0.5 },
        measured: `${Math.round(median(published))} ms against ${Math.round(median(built))} ms; ${rows.toLocaleString('en-US')} rows`,
      },
      await measureSwap(space, quick ? 10 : 40),
    ]
  },
}

/** The same rows in a file that the service has not met, so that the rename is all that a run has left to do. */
async function measureSwap(space: Workspace, swaps: number): Promise<Figure> {
  await using service = await serveTable(space.dir)
  const dir = space.path('.eider/snapshots')
  const path = join(dir, 'manifest.json')
  const snapshot = parseManifest(await readFile(path, 'utf8'))
  const [relation] = snapshot.relations
  await servedBy(service) // what the client does for its first request takes longer than a swap
  const times: number[] = []
  for (let i = 0; i < swaps; i++) {
    await sleep(APART_MS)
    const id = `swap-${i}`
    const file = `${id}.duckdb`
    await link(join(dir, relation!.file), join(dir, file))
    const relations = [{ ...relation!, file }]
    await writeFile(`${path}.tmp`, printManifest({ ...snapshot, id, relations }))
    await rename(`${path}.tmp`, path)
    const startedAt = performance.now()
    while ((await servedBy(service)) !== id) await sleep(1)
    times.push(performance.now() - startedAt)
  }
  return {
    name: `rename of the manifest until the new snapshot answers / ${SWAP_MS} ms`,
    ratio: median(times) / SWAP_MS,
    bound: { at: 'most', ratio: 1 },
    measured: `${median(times).toFixed(1)} ms, at most ${Math.max(...times).toFixed(1)} ms; ${swaps} swaps`,
  }
}

async function servedBy({ url }: Served): Promise<string | null> {
  const response = await fetch(`${url}/mart_rows(7)`)
  await response.arrayBuffer()
  return response.headers.get('eider-snapshot')
}
