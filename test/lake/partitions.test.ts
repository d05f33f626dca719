// Three machines, each with a collector, a flush, runs, a pull and a service; the first also has PostgreSQL, the second the
// store. Each two of them are parted in turn while events come, runs run and clients read: no answer is wrong, nothing is
// lost, and when the parting ends all of it goes on by itself.
//
// EIDER_PARTITION_SECONDS=60 parts them for so long; the short form is a look.

import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeTest } from '../support/lake/lake-test.ts'
import { type OwnServers, startServers, storeKeys } from '../support/lake/servers.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { hasNamespaces, type Namespace, openNetwork } from '../support/namespaces.ts'
import { until } from '../support/until.ts'
import { eiderProcess, type Workspace, workspace } from '../support/workspace.ts'

const PARTED_MS = Number(process.env['EIDER_PARTITION_SECONDS'] ?? 3) * 1000
/** For connections that are gone to be noticed, on both sides, and for what waited to be done. */
const HEALED_MS = 300_000
const ports = { collect: 8080, odata: 8090 }
const tokens = { COLLECT_TOKEN: 'token-of-collectors', ODATA_TOKEN: 'token-of-services' }

const models = {
  'models/raw/orders.sql': '-- @kind: events\nid bigint not null\n',
  // Each answer tells whether it is right: no event is in it twice.
  'models/mart/totals.sql':
    '-- @expose id\nSELECT 1 AS id, count(*) AS n, count(DISTINCT id) AS once FROM raw.orders\n',
}

class Machine implements AsyncDisposable {
  readonly place: Namespace
  readonly space: Workspace
  readonly #env: Readonly<Record<string, string>>
  readonly #children: ChildProcess[] = []
  readonly ended: string[] = []
  /** As its service has said last. */
  seen = 0
  #isOver = false
  #runs = Promise.resolve()

  private constructor(place: Namespace, space: Workspace, env: Readonly<Record<string, string>>) {
    this.place = place
    this.space = space
    this.#env = env
  }

  static async open(
    place: Namespace,
    eiderYml: string,
    env: Readonly<Record<string, string>>,
  ): Promise<Machine> {
    const space = await workspace({ 'eider.yml': eiderYml, ...models })
    return new Machine(place, space, env)
  }

  /** The processes that go on, and runs one after the other as by cron. */
  start(): void {
    const server = { COLLECT_HOST: this.place.address, ODATA_HOST: this.place.address, ...tokens }
    this.#start(['collect', 'daemon', '--quiet'], server)
    this.#start(['serve', '--quiet'], server)
    this.#start(['flush', '--every', '1s', '--quiet'], this.#env)
    this.#start(['pull', '--every', '1s', '--quiet'], this.#env)
    this.#runs = this.#keepRunning()
  }

  async run(): Promise<number | null> {
    const child = this.#spawn(['run', '--quiet', '--wait', '2'], this.#env)
    return new Promise((resolve) => child.once('exit', resolve))
  }

  async #keepRunning(): Promise<void> {
    while (!this.#isOver) {
      const code = await this.run()
      if (!this.#isOver && ![0, 1, 3].includes(code ?? -1)) this.ended.push(`run: ${code}`)
      await sleep(500)
    }
  }

  #start(args: readonly string[], env: Readonly<Record<string, string>>): void {
    const child = this.#spawn(args, env)
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)))
    child.once('exit', (code) => {
      if (!this.#isOver) this.ended.push(`${args.join(' ')}: ${code}: ${said}`)
    })
  }

  #spawn(args: readonly string[], more: Readonly<Record<string, string>>): ChildProcess {
    const { command, args: all, env } = eiderProcess(args, more)
    const [program, given] = this.place.within(command, all)
    const child = spawn(program, given, {
      cwd: this.space.dir,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#children.push(child)
    return child
  }

  async collect(id: number): Promise<void> {
    const answer = await fetch(`http://${this.place.address}:${ports.collect}/collect/raw/orders`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Bearer ${tokens.COLLECT_TOKEN}`,
      },
      body: JSON.stringify({ id }),
    })
    assert.is(answer.status, 202)
  }

  /** What its service says now, which is never less than before, nor more than was sent. */
  async read(sent: () => number): Promise<number> {
    const answer = await fetch(`http://${this.place.address}:${ports.odata}/odata/mart_totals(1)`, {
      headers: { Authorization: `Bearer ${tokens.ODATA_TOKEN}` },
    })
    assert.is(answer.status, 200)
    const { n, once } = (await answer.json()) as { readonly n: number; readonly once: number }
    assert.is(n, once, 'an event is there twice')
    assert.ok(n >= this.seen && n <= sent(), `${n} after ${this.seen} of ${sent()}`)
    this.seen = n
    return n
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    for (const child of this.#children) child.kill('SIGKILL')
    await this.#runs
    await this.space[Symbol.asyncDispose]()
  }
}

const settingsOf = (
  catalog: OwnServers,
  store: OwnServers,
  lake: { user: string; database: string; data: string },
) => `
name: shop
collect:
  port: ${ports.collect}
odata:
  port: ${ports.odata}
lake:
  catalog: postgres://${lake.user}@${catalog.address}:${catalog.postgresPort}/${lake.database}
  data: ${lake.data}
  s3_endpoint: http://${store.address}:${store.storePort}
  s3_url_style: path
`

async function parted(): Promise<void> {
  await using network = openNetwork(3)
  const [first, second] = network.machines as readonly [Namespace, Namespace, Namespace]
  await using catalog = await startServers(first)
  await using store = await startServers(second)
  await using lake = await withLake(catalog)
  const env = { ...lake.env, LAKE_S3_KEY_ID: storeKeys.keyId, ODATA_SECRET: 'ab'.repeat(32) }
  const yml = settingsOf(catalog, store, lake)
  await using one = await Machine.open(network.machines[0]!, yml, env)
  await using two = await Machine.open(network.machines[1]!, yml, env)
  await using three = await Machine.open(network.machines[2]!, yml, env)
  const machines = [one, two, three]
  assert.is(await one.run(), 0)
  for (const machine of machines) machine.start()
  const isUp = (machine: Machine) =>
    machine
      .read(() => 0)
      .then(
        () => true,
        () => false,
      )
  for (const machine of machines) await until(() => isUp(machine), Boolean, HEALED_MS)
  let sent = 0
  const live = async () => {
    for (const machine of machines) {
      await machine.collect(sent++)
      await machine.read(() => sent)
    }
    await sleep(100)
  }
  for (const [a, b] of [
    [one, two],
    [one, three],
    [two, three],
  ] as const) {
    network.part(a.place, b.place)
    const before = machines.map(({ seen }) => seen)
    for (const end = Date.now() + PARTED_MS; Date.now() < end;) await live()
    const during = machines.map(({ seen }, i) => seen - before[i]!)
    network.heal()
    const healedAt = Date.now()
    const all = sent
    for (const machine of machines)
      await until(
        () => machine.read(() => sent),
        (n) => n >= all,
        HEALED_MS,
      )
    for (const { ended } of machines) assert.equal(ended, [])
    if (PARTED_MS > 10_000)
      process.stdout.write(
        `${a.place.name} and ${b.place.name} parted for ${PARTED_MS / 1000} s: ${all} events, the services saw ${during.join(', ')} more meanwhile, all of them ${Date.now() - healedAt} ms later\n`,
      )
  }
}

const name =
  'three machines, each two of which are parted in turn, lose nothing and heal by themselves'
if (hasNamespaces) lakeTest(name, parted)
else test.skip(name)

test.run()
