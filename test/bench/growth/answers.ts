// What one answer of a service costs it, with one client that asks one thing after the other.

import { Agent, get } from 'node:http'
import { limits } from '../../../src/core/limits.ts'
import { type Served, untilRowFile } from '../served.ts'
import type { Cost } from './curve.ts'

const LEAST_ANSWERS = 5
const MOST_ANSWERS = 2_000
const LONG_MS = 1_000

/** Milliseconds of the service's processor time. `path` is told how many there were before. */
export async function answerMs(service: Served, path: (n: number) => string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  // Its path through the service is warm.
  for (let n = 0; n < LEAST_ANSWERS; n++) await answerTo(agent, `${service.url}/${path(n)}`)
  const before = (await service.cost()).processorMs
  const startedAt = performance.now()
  let answers = 0
  while (
    answers < LEAST_ANSWERS ||
    (answers < MOST_ANSWERS && performance.now() - startedAt < LONG_MS)
  )
    await answerTo(agent, `${service.url}/${path(LEAST_ANSWERS + answers++)}`)
  const after = (await service.cost()).processorMs
  agent.destroy()
  return (after - before) / answers
}

const KEY_STEP = 7_919

/** A spread of the keys 0 to `rows` - 1. */
export const keyOf = (n: number, rows: number): number => (n * KEY_STEP) % rows

/**
 * Of a row by its key `id`: as DuckDB answers, and from a file of the service where sets of so many rows have one. `work`
 * units are in a row, `unit` names them.
 */
export async function rowCosts(
  service: Served,
  set: string,
  rows: number,
  { work, unit }: { readonly work: number; readonly unit: string } = { work: 1, unit: '' },
): Promise<readonly Cost[]> {
  const byDuckDB = await answerMs(service, (n) => `${set}?$filter=id%20eq%20${keyOf(n, rows)}`)
  const costs = [{ operation: `row by DuckDB${unit}`, ms: byDuckDB, work }]
  if (rows > limits.rowFileRows) return costs
  await untilRowFile(service.url, rows, set)
  const fromFile = await answerMs(service, (n) => `${set}(${keyOf(n, rows)})`)
  return [...costs, { operation: `row from its file${unit}`, ms: fromFile, work }]
}

function answerTo(agent: Agent, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`${response.statusCode}: ${url}`))
      })
    })
    request.once('error', reject)
  })
}
