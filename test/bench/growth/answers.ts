// What one answer of a service costs it, with one client that asks one thing after the other.

import { Agent, get } from 'node:http'
import type { Served } from '../served.ts'

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
