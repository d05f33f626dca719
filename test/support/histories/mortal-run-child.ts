// The process of mortal-run.ts: node mortal-run-child.js run <MortalRun as JSON>

import type { Claim, ClaimSource } from '../../../src/buffer/claim-source.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { compileTexts } from '../compile-texts.ts'
import { runDefaults } from '../run-defaults.ts'
import type { BufferCall, MortalRun } from './mortal-run.ts'

const { paths, texts, now, options } = JSON.parse(process.argv[3] ?? '') as MortalRun
const waiting = new Map<number, (result: unknown) => void>()

process.on('message', ({ id, result }: { readonly id: number; readonly result: unknown }) => {
  waiting.get(id)?.(result)
  waiting.delete(id)
})

const ask = <T>(method: BufferCall['method'], argument?: unknown): Promise<T> =>
  new Promise((resolve) => {
    const id = waiting.size === 0 ? 0 : Math.max(...waiting.keys()) + 1
    waiting.set(id, resolve as (result: unknown) => void)
    process.send!({ id, method, argument })
  })

const claims: ClaimSource = {
  targets: () => ask('targets'),
  inflight: (target) => ask('inflight', target),
  claim: (target) => ask('claim', target),
  verify: (claim) => ask('verify', claim),
  damaged: () => ask('damaged'),
  ack: ({ id, target }: Pick<Claim, 'id' | 'target'>) => ask('ack', { id, target }),
  nack: ({ id, target }: Pick<Claim, 'id' | 'target'>) => ask('nack', { id, target }),
  [Symbol.asyncDispose]: () => Promise.resolve(),
}

await runPipeline({
  ...runDefaults(paths),
  project: await compileTexts(texts),
  openClaims: () => Promise.resolve(claims),
  allowRemoval: true,
  now: () => new Date(now),
  ...options,
})
process.disconnect()
