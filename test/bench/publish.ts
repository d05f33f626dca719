// What publishing costs beside building, and how soon a service answers from what was published.

import { readFile, rename, writeFile } from 'node:fs/promises'
import { parseManifest, printManifest } from '../../src/core/snapshot.ts'
import type { Workspace } from '../workspace.ts'
import { type Benchmark, type Figure, median } from './figure.ts'
import { publishedTable, type Served, serveTable, TABLE_FILE, tableModel } from './served.ts'

const SWAP_MS = 60

export const publishBenchmark: Benchmark = {
  name: 'publish',
  async run({ quick }) {
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
    return [
      {
        name: 'publish / build of the model',
        ratio: median(published) / median(built),
        bound: { at: 'most', ratio: 0.75 },
        measured: `${Math.round(median(published))} ms against ${Math.round(median(built))} ms; ${rows.toLocaleString('en-US')} rows`,
      },
      await measureSwap(space, quick ? 10 : 40),
    ]
  },
}

/** The same files under another name of the snapshot, so that the rename is all that happens. */
async function measureSwap(space: Workspace, swaps: number): Promise<Figure> {
  await using service = await serveTable(space.dir)
  const path = space.path('.eider/snapshots/manifest.json')
  const snapshot = parseManifest(await readFile(path, 'utf8'))
  const times: number[] = []
  for (let i = 0; i < swaps; i++) {
    const id = `swap-${i}`
    await writeFile(`${path}.tmp`, printManifest({ ...snapshot, id }))
    await rename(`${path}.tmp`, path)
    const startedAt = performance.now()
    while ((await servedBy(service)) !== id) await new Promise((resolve) => setTimeout(resolve, 1))
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
