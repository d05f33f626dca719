// Lives in processes of their own, as many at once as a small machine has processors.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Lived, Plan } from './plan.ts'

const [simulate, putBack] = ['simulate.js', 'put-back.js'].map((name) =>
  fileURLToPath(new URL(`./${name}`, import.meta.url)),
)

interface Seeds {
  readonly first: number
  readonly last: number
  readonly plan?: Partial<Plan>
  /** Of faults.ts. */
  readonly fault?: string
}

/** All of them, or those up to the first in which something is wrong. */
export async function live({ first, last, plan = {}, fault }: Seeds): Promise<readonly Lived[]> {
  const before = fault === undefined ? [] : ['--import', putBack!]
  const args = [...before, simulate!, `${first}`, `${last}`, JSON.stringify(plan)]
  const env = { ...process.env, EIDER_SIMULATION_FAULT: fault ?? '' }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close') as Promise<[code: number | null, signal: string | null]>
  const [printed, problems] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code, signal] = await ended
  const lived = printed
    .split('\n')
    .filter((line) => line.startsWith('{"seed"'))
    .map((line) => JSON.parse(line) as Lived)
  const isWhole = lived.at(-1)?.seed === last || lived.at(-1)?.wrong != null
  if (!isWhole) {
    const right = `${lived.length} right ones`
    throw new Error(
      `the seeds ${first} to ${last} ended early by ${signal ?? code} after ${right}: ${problems}`,
    )
  }
  return lived
}
