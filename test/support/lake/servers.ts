// PostgreSQL and a store for the lakes of one process of tests. They are started by a child that ends them, and removes
// what they wrote, as soon as this process is gone, however it ends.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Namespace } from '../namespaces.ts'

export interface LakeServers {
  /** Where they listen. */
  readonly address: string
  /** Its data, its socket, and all files of the store. */
  readonly directory: string
  readonly postgresPort: number
  readonly storePort: number
}

export const superuser = { user: 'postgres', password: 'pw-of-postgres' }

/** s3rver knows one pair of keys. */
export const storeKeys = { keyId: 'S3RVER', secret: 'S3RVER' }

export const bucket = 'eider-lakes'

export interface OwnServers extends LakeServers, AsyncDisposable {
  /** SIGKILL, as in a crash. */
  kill(server: 'postgres' | 'store'): Promise<void>
  /** On the same port, with what it had on disk. */
  start(server: 'postgres' | 'store'): Promise<void>
}

/** The runner of tests starts them once for all files, in this variable as JSON. */
export const SERVERS_VARIABLE = 'EIDER_TEST_LAKE_SERVERS'

let shared: Promise<LakeServers> | null = null

/** Those of the runner, or of this process, started with its first lake. Nobody changes or kills them. */
export function sharedServers(): Promise<LakeServers> {
  const given = process.env[SERVERS_VARIABLE]
  return (shared ??=
    given === undefined ? startServers() : Promise.resolve(JSON.parse(given) as LakeServers))
}

/** For tests that kill them, change more than a database, or have them on another machine. */
export async function startServers(within?: Namespace): Promise<OwnServers> {
  const program = fileURLToPath(new URL('servers-child.js', import.meta.url))
  const [node, args] = within?.within(process.execPath, [program]) ?? [process.execPath, [program]]
  const address = within?.address ?? '127.0.0.1'
  const child = spawn(node, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, EIDER_TEST_ADDRESS: address },
  })
  const lines = linesOf(child.stdout)
  // The process of a test ends when its tests are done, whether or not somebody has closed the servers.
  const handles = [child, child.stdin, child.stdout] as unknown as readonly Handle[]
  const answer = async (): Promise<string> => {
    for (const handle of handles) handle.ref()
    const { value, done } = await lines.next()
    for (const handle of handles) handle.unref()
    if (done === true) throw new Error('the servers of the lake tests have ended')
    return value
  }
  const command = async (line: string) => {
    child.stdin.write(line + '\n')
    await answer()
  }
  return {
    ...(JSON.parse(await answer()) as LakeServers),
    kill: (server) => command(`kill ${server}`),
    start: (server) => command(`start ${server}`),
    async [Symbol.asyncDispose]() {
      child.ref()
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.stdin.end()
      await ended
    },
  }
}

interface Handle {
  ref(): void
  unref(): void
}

async function* linesOf(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  let text = ''
  for await (const chunk of stream) {
    text += String(chunk)
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      yield text.slice(0, end)
      text = text.slice(end + 1)
    }
  }
}
