// One machine of the tests of faults: a collector, a flush that goes on, and runs one after the other, each of which may be
// killed, frozen and started again at any moment.

import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { eiderProcess, type Running, type Workspace, workspace } from '../workspace.ts'
import type { TestLake } from './with-lake.ts'

/** Exit codes that a fault may lead to: a failed model, the environment, an error that is not known. */
const FAULTS = [0, 1, 3, 70]

const DAEMON = ['collect', 'daemon', '--quiet']

export type Victim = 'flush' | 'run'

export class FaultMachine implements AsyncDisposable {
  readonly space: Workspace
  readonly #lake: TestLake
  #daemon: Running
  readonly #children = new Map<Victim, ChildProcess>()
  readonly #loops: Promise<void>[] = []
  #isOver = false
  /** Runs that ended well, and of both what they said when they did not end as they may. */
  goodRuns = 0
  readonly wrong: string[] = []

  private constructor(space: Workspace, lake: TestLake, daemon: Running) {
    this.space = space
    this.#lake = lake
    this.#daemon = daemon
  }

  static async open(
    lake: TestLake,
    files: Readonly<Record<string, string>>,
  ): Promise<FaultMachine> {
    const settings = Object.entries(lake.settings).map(([name, value]) => `  ${name}: '${value}'\n`)
    const ports = 'collect:\n  port: 0\n  admin_port: 0\n'
    const space = await workspace({
      'eider.yml': `name: shop\nlake:\n${settings.join('')}${ports}`,
      ...files,
    })
    const daemon = await space.start(DAEMON)
    return new FaultMachine(space, lake, daemon)
  }

  get env(): Readonly<Record<string, string>> {
    const admin = new URL(this.#daemon.adminUrl!).port
    return { ...this.#lake.env, COLLECT_ADMIN_PORT: admin }
  }

  /** SIGKILL; one that is started at once listens where the one before did. */
  async killDaemon(): Promise<void> {
    const { url, adminUrl } = this.#daemon
    await this.#daemon.stop('SIGKILL')
    const ports = [url, adminUrl!].map((address) => new URL(address).port)
    this.#daemon = await this.space.start([
      ...DAEMON,
      '--port',
      ports[0]!,
      '--admin-port',
      ports[1]!,
    ])
  }

  /** They go on, and are started again when they end, until stop(). */
  start(): void {
    this.#isOver = false
    this.#loops.push(this.#repeat('flush', ['flush', '--every', '1s', '--quiet']))
    this.#loops.push(this.#repeat('run', ['run', '--quiet', '--wait', '5']))
  }

  /** Each ends what it is at. */
  async stop(): Promise<void> {
    this.#isOver = true
    this.signal('flush', 'SIGTERM')
    const runs = this.#children.get('run')
    if (runs?.connected === true) runs.send('stop', () => {})
    await Promise.all(this.#loops.splice(0))
  }

  /** False where there was none that it could reach. */
  signal(victim: Victim, signal: NodeJS.Signals): boolean {
    return this.#children.get(victim)?.kill(signal) ?? false
  }

  async collect(ids: readonly number[]): Promise<void> {
    assert.is((await this.post(ids)).status, 202)
  }

  /** One batch; rejects when the daemon is gone before it has answered. */
  post(ids: readonly number[]): Promise<Response> {
    return fetch(`${this.#daemon.url}/collect/raw/orders/batch`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: ids.map((id) => `{"id":${id}}\n`).join(''),
    })
  }

  async #repeat(victim: Victim, args: readonly string[]): Promise<void> {
    while (!this.#isOver) {
      const child = victim === 'run' ? this.#spawnRuns(args) : this.#spawn(args)
      this.#children.set(victim, child)
      let said = ''
      child.stderr!.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)))
      child.on('message', (code: number) => {
        if (code === 0) this.goodRuns++
        this.#judge(`${victim} ended with ${code}`, FAULTS.includes(code), said)
        said = ''
      })
      const [code, signal] = await new Promise<readonly [number | null, string | null]>((resolve) =>
        child.once('close', (...end) => resolve(end)),
      )
      const isExpected = signal === 'SIGKILL' || (code !== null && FAULTS.includes(code))
      this.#judge(`${victim} ended with ${code ?? signal}`, isExpected, said)
      await sleep(100)
    }
  }

  #judge(how: string, isExpected: boolean, said: string): void {
    if (!isExpected) this.wrong.push(`${how}: ${said}`)
    if (said.includes(this.#lake.password)) this.wrong.push(`the password is in: ${said}`)
  }

  #spawn(args: readonly string[]): ChildProcess {
    const { command, args: all, env } = eiderProcess(args, this.env)
    return spawn(command, all, {
      cwd: this.space.dir,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  }

  /** One process for many runs: to load the program takes longer than what most of them do. */
  #spawnRuns(args: readonly string[]): ChildProcess {
    const { command, env } = eiderProcess(args, { ...this.env, UV_THREADPOOL_SIZE: '24' })
    const file = fileURLToPath(new URL('endless-runs-child.js', import.meta.url))
    return spawn(command, [file, ...args], {
      cwd: this.space.dir,
      env,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    for (const victim of this.#children.keys()) {
      this.signal(victim, 'SIGCONT')
      this.signal(victim, 'SIGKILL')
    }
    await Promise.all(this.#loops)
    await this.space[Symbol.asyncDispose]()
  }
}
