// The process of a peer: started in a directory of its own, which is gone with it.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../support/until.ts'

interface PeerProcess extends AsyncDisposable {
  readonly pid: number
}

export const peerDirectory = () => mkdtemp(join(tmpdir(), 'eider-peer-'))

interface PeerProcessOptions {
  readonly dir: string
  readonly env?: NodeJS.ProcessEnv
  readonly uid?: number
  readonly gid?: number
  readonly signal?: NodeJS.Signals
  /** Whether it answers. */
  readonly isReady: () => Promise<boolean>
}

/** Throws with what it said when it ends before it is ready. */
export async function startPeer(
  program: string,
  args: readonly string[],
  { dir, env, uid, gid, signal = 'SIGTERM', isReady }: PeerProcessOptions,
): Promise<PeerProcess> {
  const child: ChildProcess = spawn(program, args, {
    cwd: dir,
    env,
    uid,
    gid,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)))
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal)
      await once(child, 'exit')
    }
    await rm(dir, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    await until(
      async () => {
        if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`)
        return await isReady().catch(() => false)
      },
      Boolean,
      120_000,
    )
  } catch (error) {
    await stop()
    throw error
  }
  return { pid: child.pid!, [Symbol.asyncDispose]: stop }
}
