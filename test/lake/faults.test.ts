// Two machines collect, flush and run into one lake, while flushes and runs are killed and frozen, answers to COMMIT are
// lost, COMMITs are cut off, connections and locks are lost, and PostgreSQL and the store crash: each accepted event and
// each appended row is in its table once, and each file that the catalog names is there.
//
// EIDER_LAKE_ROUNDS=2000 makes so many rounds, each a fault; EIDER_CRASH_SEED=2 begins elsewhere.

import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { FaultMachine, type Victim } from '../support/lake/fault-machine.ts'
import { faultProject, rowsUpTo } from '../support/lake/fault-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { type OwnServers, startServers } from '../support/lake/servers.ts'
import { missingFiles } from '../support/lake/stored-files.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { seededRandom } from '../support/seeded-random.ts'

const ROUNDS = Number(process.env['EIDER_LAKE_ROUNDS'] ?? 5)
/** After so many all faults end, and what is in the lake is compared: a loss shows later as well as at once. */
const ROUNDS_OF_A_PART = 50
/** Most faults meet a run before it ends; after so many, faults rest until one has ended well. */
const ROUNDS_OF_A_RUN = 10
const EVENTS = 5
const HOLD_MS = 4_000
/** A busy machine takes its time, and a fault that meets no work shows nothing. */
const PROGRESS_MS = 20_000
const RUN_MS = 180_000

interface World {
  readonly lake: TestLake
  readonly servers: OwnServers
  readonly machines: readonly FaultMachine[]
  readonly random: () => number
}

type Fault = (world: World, machine: FaultMachine) => Promise<void> | void

const victimOf = ({ random }: World): Victim => (random() < 0.6 ? 'flush' : 'run')

/** Some PostgreSQL still answers when its postmaster is gone, and may refuse to begin again for a moment. */
async function crash({ servers, random }: World, server: 'postgres' | 'store'): Promise<void> {
  await servers.kill(server)
  await sleep(random() * 500)
  await servers.start(server)
}

const faults: Readonly<Record<string, { readonly weight: number; readonly make: Fault }>> = {
  killed: {
    weight: 8,
    make: (world, machine) => void machine.signal(victimOf(world), 'SIGKILL'),
  },
  'killed while its COMMIT is on the way': {
    weight: 3,
    async make({ lake }, machine) {
      const held = await Promise.race([lake.catalog.holdNextCommit(), sleep(HOLD_MS, null)])
      for (const victim of ['flush', 'run'] as const) machine.signal(victim, 'SIGKILL')
      // A COMMIT that is held later would be held for good.
      if (held === null) lake.catalog.disarm()
      held?.release()
    },
  },
  frozen: {
    weight: 3,
    async make(world, machine) {
      const victim = victimOf(world)
      machine.signal(victim, 'SIGSTOP')
      await sleep(500 + world.random() * 2_500)
      machine.signal(victim, 'SIGCONT')
    },
  },
  'frozen, and its connections are gone when it thaws': {
    weight: 2,
    async make(world, machine) {
      const victim = victimOf(world)
      machine.signal(victim, 'SIGSTOP')
      world.lake.catalog.cut()
      await sleep(500 + world.random() * 2_500)
      machine.signal(victim, 'SIGCONT')
    },
  },
  'answer to COMMIT lost': { weight: 6, make: ({ lake }) => void lake.catalog.loseNextCommit() },
  'COMMIT cut off': { weight: 6, make: ({ lake }) => void lake.catalog.cutNextCommit() },
  'connections cut': { weight: 3, make: ({ lake }) => lake.catalog.cut() },
  'locks lost': {
    weight: 2,
    async make({ lake }) {
      await lake.postgres(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'",
      )
    },
  },
  'PostgreSQL crashed': { weight: 2, make: (world) => crash(world, 'postgres') },
  'store crashed': { weight: 2, make: (world) => crash(world, 'store') },
  'store answers 503': {
    weight: 1,
    async make({ lake, random }) {
      lake.store.refuseWith = 503
      await sleep(random() * 1_000)
      lake.store.refuseWith = null
    },
  },
}

const lottery = Object.entries(faults).flatMap(([name, { weight }]) =>
  Array.from({ length: weight }, () => name),
)

lakeTest(
  'machines that are killed, cut off and frozen lose nothing and do nothing twice',
  async () => {
    await using servers = await startServers()
    await using lake = await withLake(servers)
    await using one = await FaultMachine.open(lake, faultProject)
    await using other = await FaultMachine.open(lake, faultProject)
    const random = seededRandom(Number(process.env['EIDER_CRASH_SEED'] ?? 1))
    const world: World = { lake, servers, machines: [one, other], random }
    await one.space.ok(['run'], { env: one.env, timeoutMs: 180_000 })
    const made = new Map<string, number>()
    let [sent, appended] = [0, 1]
    for (let round = 0; round < ROUNDS;) {
      for (const machine of world.machines) machine.start()
      for (let i = 0; i < ROUNDS_OF_A_PART && round < ROUNDS; i++, round++) {
        appended++
        for (const machine of world.machines) {
          await machine.collect(Array.from({ length: EVENTS }, () => sent++))
          await machine.space.write('rows.csv', rowsUpTo(appended))
        }
        const name = lottery[Math.floor(random() * lottery.length)]!
        made.set(name, (made.get(name) ?? 0) + 1)
        await sleep(random() * 400)
        await faults[name]!.make(world, world.machines[Math.floor(random() * 2)]!)
        await progress(world)
        if ((round + 1) % ROUNDS_OF_A_RUN === 0) await wholeRun(world)
      }
      await wholeRun(world)
      await compare(world, { sent, appended })
      const runs = one.goodRuns + other.goodRuns
      const counts = [...made].map(([fault, count]) => `${count} ${fault}`).join(', ')
      process.stdout.write(
        `${round} rounds: ${sent} events, ${appended} rows, ${lake.catalog.commits} commits, ${runs} runs whole; ${counts}\n`,
      )
    }
  },
)

/** Waits until something is committed, so that faults meet work and not the start of a process. */
const progress = ({ lake }: World): Promise<void> => more(() => lake.catalog.commits, PROGRESS_MS)

async function wholeRun({ machines }: World): Promise<void> {
  const goodRuns = () => machines.reduce((sum, machine) => sum + machine.goodRuns, 0)
  const before = goodRuns()
  await more(goodRuns, RUN_MS)
  assert.ok(goodRuns() > before, 'no run ends well')
}

/** Waits until a number has grown, and no longer than that. */
async function more(count: () => number, mostMs: number): Promise<void> {
  const before = count()
  for (const end = Date.now() + mostMs; count() === before && Date.now() < end;) await sleep(50)
}

async function compare(
  { lake, machines }: World,
  { sent, appended }: { readonly sent: number; readonly appended: number },
): Promise<void> {
  await Promise.all(machines.map((machine) => machine.stop()))
  lake.catalog.disarm()
  for (const machine of machines) {
    assert.equal(machine.wrong, [])
    const given = { env: machine.env, timeoutMs: 300_000 }
    // The connections that were cut are noticed once.
    await machine.space.eider(['flush', '--wait', '60'], given)
    await machine.space.ok(['flush', '--wait', '60'], given)
  }
  const [{ space, env }] = machines as readonly [FaultMachine]
  const given = { env, timeoutMs: 300_000 }
  await space.ok(['run', '--wait', '60'], given)
  const counted = (table: string, column: string) =>
    `SELECT '${table}' AS t, count(*)::INT AS n, count(DISTINCT ${column})::INT AS once, max(${column})::INT AS last FROM ${table}`
  const tables = [
    ['raw.orders', 'id'],
    ['core.orders', 'id'],
    ['core.log', 'n'],
  ] as const
  const text = tables.map(([table, column]) => counted(table, column)).join(' UNION ALL ')
  const { stdout } = await space.ok(['query', `${text} ORDER BY t`, '--json'], given)
  const lines = stdout.trim().split('\n')
  const found = lines.map((line) => JSON.parse(line) as unknown)
  assert.equal(found, [
    { t: 'core.log', n: appended, once: appended, last: appended },
    { t: 'core.orders', n: sent, once: sent, last: sent - 1 },
    { t: 'raw.orders', n: sent, once: sent, last: sent - 1 },
  ])
  assert.equal((await missingFiles(lake)).missing, [])
  assert.equal(lake.store.deletions, [])
  lake.catalog.forget()
  lake.store.forget()
}

test.run()
