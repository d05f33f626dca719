// A run that kills its process with SIGKILL right after a step of the flush. Started by crash.test.ts:
//
//   node run-child.js <paths of the project as JSON> <step> <buffer: own | parent>
//
// `own`: the buffer is opened by the run and dies with it. `parent`: it lives on in the parent, which answers calls that
// are sent over the channel between the two processes, as the daemon does over HTTP.

import { once } from 'node:events'
import type { Claim, ClaimSource } from '../../src/buffer/claim-source.ts'
import type { ProjectPaths } from '../../src/core/project.ts'
import { runPipeline } from '../../src/pipeline/run.ts'
import { collected } from './killed-run-project.ts'
import { openBuffer } from './open-buffer.ts'
import { runDefaults } from './run-defaults.ts'
import { projectOf } from './handmade-models.ts'

const [given = '', step = '', owner = ''] = process.argv.slice(2)
const paths = JSON.parse(given) as ProjectPaths

async function ask(method: string, argument?: unknown): Promise<unknown> {
  process.send?.({ method, argument })
  const [answer] = (await once(process, 'message')) as [{ result: unknown }]
  return answer.result
}

const parent: ClaimSource = {
  targets: () => ask('targets') as Promise<Claim['target'][]>,
  inflight: (target) => ask('inflight', target) as Promise<Claim[]>,
  claim: (target) => ask('claim', target) as Promise<Claim | null>,
  verify: (claim) => ask('verify', claim) as Promise<Claim | null>,
  damaged: () => ask('damaged') as ReturnType<ClaimSource['damaged']>,
  ack: ({ id, target }) => ask('ack', { id, target }) as Promise<number>,
  nack: ({ id, target }) => ask('nack', { id, target }) as Promise<number>,
  [Symbol.asyncDispose]: () => Promise.resolve(),
}

await runPipeline({
  ...runDefaults(paths),
  project: projectOf(...collected),
  openClaims: () => (owner === 'own' ? openBuffer(paths.state) : Promise.resolve(parent)),
  onFlushStep: async (done) => {
    if (done !== step) return
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => {}) // the signal is delivered before anything else happens
  },
})
process.disconnect?.()
