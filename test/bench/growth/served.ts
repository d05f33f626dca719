// What a service costs: more rows, more states that are kept, more connections.

import { link, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseManifest, printManifest, retainedManifestFile } from '../../../src/core/snapshot.ts'
import { startDaemon } from '../../support/daemon-process.ts'
import { workspace } from '../../support/workspace.ts'
import { EVENT, EVENTS_MODEL } from '../ingest.ts'
import { getRequest, type Load, measureLoad, postRequest } from '../load.ts'
import { processorMsOf } from '../../support/processor-time.ts'
import { takenByEider } from '../processor-time.ts'
import { publishedTable, serveTable, TABLE_FILE, tableModel, untilRowFile } from '../served.ts'
import { answerMs, keyOf, rowCosts } from './answers.ts'
import { type Curve, least } from './curve.ts'

const ROUNDS = 3

export const rowsServed: Curve = {
  name: 'rows-served',
  of: 'rows of a set',
  about:
    'A set of ten columns. `eider run` builds and publishes it, and a service opens it. One client then asks for pages of 20 rows from a key, for the number of rows whose name contains a number, and for rows by key. These come from DuckDB, and from the file that the service makes of up to 4 million rows. The cache of answers is off.',
  sizes: [10_000, 100_000, 1_000_000, 10_000_000],
  moreSizes: [100_000_000],
  async measure(rows) {
    await using space = await workspace({
      'eider.yml': 'name: bench\n',
      [TABLE_FILE]: tableModel(rows),
    })
    const { processorMs: run } = takenByEider(['run', '--quiet'], space.dir)
    await using service = await serveTable(space.dir, { cacheBytes: 0 })
    const open = (await service.cost()).processorMs
    const page = await answerMs(
      service,
      (n) => `mart_rows?$filter=id%20ge%20${keyOf(n, rows)}&$top=20`,
    )
    const count = await answerMs(
      service,
      (n) => `mart_rows/$count?$filter=contains(name,'${10 + (n % 90)}')`,
    )
    return [
      { operation: 'run and publish, a row', ms: run, work: rows },
      { operation: 'count of a filter, a row', ms: count, work: rows },
      { operation: 'opening the service', ms: open, work: 1 },
      { operation: 'page of 20 from a key', ms: page, work: 1 },
      ...(await rowCosts(service, 'mart_rows', rows)),
    ]
  },
}

const SNAPSHOT_ROWS = 10_000

export const retainedSnapshots: Curve = {
  name: 'retained-snapshots',
  of: 'published states kept',
  about: `States of one set of ${SNAPSHOT_ROWS.toLocaleString('en-US')} rows, kept for clients that are in the middle of their pages. A run publishes one more; another finds nothing to do; a service opens the newest and answers for a row.`,
  sizes: [1, 10, 100, 1_000],
  moreSizes: [],
  async measure(states) {
    await using space = await publishedTable(SNAPSHOT_ROWS)
    await space.write(
      'eider.yml',
      `name: bench\nodata:\n  keep_snapshots: ${states + 2 * ROUNDS}\n  keep_minutes: 10000\n`,
    )
    await keepStates(space.path('.eider/snapshots'), states - 1)
    let shift = 0
    const publish = await least(ROUNDS, async () => {
      await space.write(TABLE_FILE, tableModel(SNAPSHOT_ROWS, ++shift))
      return takenByEider(['run', '--quiet'], space.dir).processorMs
    })
    const idle = await least(ROUNDS, () => takenByEider(['run', '--quiet'], space.dir).processorMs)
    await using service = await serveTable(space.dir, { cacheBytes: 0 })
    const open = (await service.cost()).processorMs
    return [
      { operation: 'run that publishes one more', ms: publish, work: 1 },
      { operation: 'run with nothing to do', ms: idle, work: 1 },
      { operation: 'opening the service', ms: open, work: 1 },
      ...(await rowCosts(service, 'mart_rows', SNAPSHOT_ROWS)),
    ]
  },
}

/** The published state under other names. */
async function keepStates(dir: string, states: number): Promise<void> {
  const current = parseManifest(await readFile(join(dir, 'manifest.json'), 'utf8'))
  const [relation] = current.relations
  for (let i = 0; i < states; i++) {
    const id = (0xabc_0000 + i).toString(16)
    const file = `m-${id}.duckdb`
    await link(join(dir, relation!.file), join(dir, file))
    const publishedAt = new Date(current.publishedAt.getTime() - i - 1)
    const relations = [{ ...relation!, file }]
    await writeFile(
      join(dir, retainedManifestFile(id)),
      printManifest({ ...current, id, publishedAt, relations }),
    )
  }
}

/** So long that opening a connection, which costs as much as some answers, counts little. */
const LOAD_MS = 10_000
/** More of them wait in line for seconds. */
const MOST_LOOKUPS = 256

export const connections: Curve = {
  name: 'connections',
  of: 'connections',
  about:
    'Each connection sends one event, or asks for one row, as soon as it has its last answer. A server takes 4,096 connections at most and closes further ones at once.',
  sizes: [1, 16, 256, 1_000, 4_000],
  moreSizes: [],
  async measure(count) {
    await using space = await publishedTable(SNAPSHOT_ROWS)
    await space.write('models/raw/events.sql', EVENTS_MODEL)
    await using daemon = await startDaemon(space, '--quiet')
    await using service = await space.start(['serve', '--port', '0', '--quiet'])
    const load = { connections: count, pipelined: 1, durationMs: LOAD_MS }
    const event = await perAnswerMs(daemon, {
      ...load,
      request: postRequest('/collect/raw/events', EVENT),
      status: 202,
    })
    const same = { ...load, request: getRequest('/odata/mart_rows(7)'), status: 200 }
    // The load counts on answers of one length, and the first one is not from memory.
    await perAnswerMs(service, { ...same, connections: 1, durationMs: 100 })
    const hit = await perAnswerMs(service, same)
    const costs = [
      { operation: 'event', ms: event, work: 1 },
      { operation: 'answer from memory', ms: hit, work: 1 },
    ]
    if (count > MOST_LOOKUPS) return costs
    return [
      ...costs,
      { operation: 'row from its file', ms: await lookupMs(space.dir, count), work: 1 },
    ]
  },
}

/** A row that is not in memory. */
async function lookupMs(dir: string, count: number): Promise<number> {
  await using service = await serveTable(dir, { cacheBytes: 0 })
  await untilRowFile(service.url, SNAPSHOT_ROWS)
  await service.cost()
  const { allAnswers } = await measureLoad({
    port: service.port,
    connections: count,
    pipelined: 1,
    durationMs: LOAD_MS,
    request: getRequest('/odata/mart_rows({key})'),
    keys: SNAPSHOT_ROWS,
    status: 200,
  })
  return (await service.cost()).processorMs / allAnswers
}

/** Processor time of the service for an answer. */
async function perAnswerMs(
  { pid, url }: { readonly pid: number; readonly url: string },
  load: Omit<Load, 'port'>,
): Promise<number> {
  const port = Number(new URL(url).port)
  const before = await processorMsOf(pid)
  const { allAnswers } = await measureLoad({ ...load, port })
  const after = await processorMsOf(pid)
  return (after - before) / allAnswers
}
