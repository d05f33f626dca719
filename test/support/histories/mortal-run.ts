// A run of its own process, which may die by SIGKILL at any of its calls (test/crash/mortal.ts), while the buffer lives on
// here, as that of the daemon does.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ProjectPaths } from '../../../src/core/project.ts'
import type { RunRequest } from '../../../src/pipeline/run-request.ts'
import type { Texts } from '../compile-texts.ts'
import type { FakeClaims } from '../fake-claims.ts'

export interface MortalRun {
  readonly paths: ProjectPaths
  readonly texts: Texts
  readonly now: string
  readonly options: Partial<Pick<RunRequest, 'selection' | 'range' | 'by'>>
}

export interface BufferCall {
  readonly id: number
  readonly method: 'targets' | 'inflight' | 'claim' | 'verify' | 'damaged' | 'ack' | 'nack'
  readonly argument: never
}

/** Dies at the nth call once it has the lock; gives whether it did, and has not ended before. */
export async function dieAt(at: number, run: MortalRun, claims: FakeClaims): Promise<boolean> {
  const script = fileURLToPath(new URL('mortal-run-child.js', import.meta.url))
  const mortal = new URL('../../crash/mortal.js', import.meta.url).href
  // The word is what mortal.ts looks for.
  const child = fork(script, ['run', JSON.stringify(run)], {
    execArgv: ['--import', mortal],
    env: { ...process.env, EIDER_DEATH: `before ${at} run.lock` },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const said: string[] = []
  child.stderr!.on('data', (data) => said.push(String(data)))
  child.on('message', ({ id, method, argument }: BufferCall) => {
    void claims[method](argument).then((result: unknown) => {
      // It may be dead by now.
      if (child.connected) child.send({ id, result })
    })
  })
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  if (signal !== 'SIGKILL' && code !== 0) throw new Error(`a run ended by itself: ${said.join('')}`)
  return signal === 'SIGKILL'
}
