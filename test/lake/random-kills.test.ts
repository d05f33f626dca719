// Two machines collect, flush and run into one lake, and their daemons, flushes and runs are killed at moments of a seeded
// choice while events come in. Each event that was answered 202 is in its tables once, each row is appended once, and each
// file that the catalog names is there.
//
// EIDER_LAKE_KILLS=100 kills so often; EIDER_KILLS_SEED chooses other moments.

// Its commands are processes: they are killed.

import { setTimeout as pause } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { FaultMachine } from '../support/lake/fault-machine.ts'
import { faultProject, rowsUpTo } from '../support/lake/fault-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { missingFiles } from '../support/lake/stored-files.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { seededRandom } from '../support/seeded-random.ts'

const KILLS = Number(process.env['EIDER_LAKE_KILLS'] ?? 8)
const SEED = Number(process.env['EIDER_KILLS_SEED'] ?? 20_260_101)
const EVENTS = 5
/** A kill that meets no work shows nothing; a busy machine takes its time. */
const WORK_MS = 10_000
const AFTER_WORK_MS = 800
const given = { timeoutMs: 300_000 }

lakeTest(
  'daemons, flushes and runs of two machines killed at random: each 202 is a row, once',
  async () => {
    await using lake = await withLake()
    await using one = await FaultMachine.open(lake, faultProject)
    await using other = await FaultMachine.open(lake, faultProject)
    const machines = [one, other]
    const random = seededRandom(SEED)
    await using senders = new Senders(machines)
    await one.space.ok(['run'], { env: one.env, ...given })
    for (const machine of machines) machine.start()
    let [kills, appended] = [0, 1]
    while (kills < KILLS) {
      appended++
      for (const machine of machines) await machine.space.write('rows.csv', rowsUpTo(appended))
      await oneCommit(lake)
      const machine = machines[Math.floor(random() * machines.length)]!
      for (const victim of ['flush', 'run', 'daemon'] as const) {
        await pause(random() * AFTER_WORK_MS)
        if (random() < 0.4) continue
        if (victim === 'daemon') await machine.killDaemon()
        if (victim === 'daemon' || machine.signal(victim, 'SIGKILL')) kills++
      }
    }
    await senders[Symbol.asyncDispose]()
    await Promise.all(machines.map((machine) => machine.stop()))
    assert.equal([one.wrong, other.wrong], [[], []], `seed ${SEED}`)
    for (const { space, env } of machines)
      await space.ok(['flush', '--wait', '60'], { env, ...given })
    await one.space.ok(['run', '--wait', '60'], { env: one.env, ...given })
    assert.equal(await findWrong(one, senders, appended), nothingWrong, `seed ${SEED}`)
    assert.equal((await missingFiles(lake)).missing, [])
    assert.equal(lake.store.deletions, [])
    const runs = one.goodRuns + other.goodRuns
    const accepted = senders.accepted.length
    process.stdout.write(
      `${kills} kills, ${accepted} accepted events, ${lake.catalog.commits} commits, ${runs} runs whole\n`,
    )
    assert.ok(accepted >= EVENTS, 'no event was accepted')
  },
)

async function oneCommit({ catalog }: TestLake): Promise<void> {
  const before = catalog.commits
  for (const end = Date.now() + WORK_MS; catalog.commits === before && Date.now() < end;)
    await pause(50)
}

/** One for each machine, which sends batch after batch and remembers what it was told. */
class Senders implements AsyncDisposable {
  readonly accepted: number[] = []
  /** The daemon was gone before it answered: stored as a whole, or not at all. */
  readonly unanswered: (readonly number[])[] = []
  #next = 0
  #isOver = false
  readonly #lanes: readonly Promise<void>[]

  constructor(machines: readonly FaultMachine[]) {
    this.#lanes = machines.map((machine) => this.#send(machine))
  }

  /** Also when the test fails: they would go on forever, and so would the process. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#lanes)
  }

  async #send(machine: FaultMachine): Promise<void> {
    while (!this.#isOver) {
      const ids = Array.from({ length: EVENTS }, () => this.#next++)
      const status = await machine.post(ids).then(
        (answer) => answer.status,
        () => null,
      )
      if (status === null) this.unanswered.push(ids)
      else assert.is(status, 202)
      if (status === 202) this.accepted.push(...ids)
      await pause(100)
    }
  }
}

const nothingWrong = { lost: [], doubled: [], invented: [], torn: [], apart: 0, log: [] }

/** What is wrong with the tables, after the last run. */
async function findWrong({ space, env }: FaultMachine, senders: Senders, appended: number) {
  const query = async (text: string) => {
    const { stdout } = await space.ok(['query', text, '--json', '--limit', '1000000'], {
      env,
      ...given,
    })
    const lines = stdout.split('\n').filter((line) => line !== '')
    return lines.map((line) => JSON.parse(line) as Record<'id' | 'n', number>)
  }
  const rows = await query('SELECT id::INT AS id, count(*)::INT AS n FROM raw.orders GROUP BY id')
  const apart = await query(
    'SELECT count(*)::INT AS n FROM (FROM raw.orders EXCEPT ALL FROM core.orders UNION ALL (FROM core.orders EXCEPT ALL FROM raw.orders))',
  )
  const log = await query('SELECT n::INT AS id, count(*)::INT AS n FROM core.log GROUP BY ALL')
  const stored = new Set(rows.map(({ id }) => id))
  const sent = new Set([...senders.accepted, ...senders.unanswered.flat()])
  const logged = new Map(log.map(({ id, n }) => [id, n]))
  const expected = Array.from({ length: appended }, (_, i) => i + 1)
  return {
    lost: senders.accepted.filter((id) => !stored.has(id)),
    doubled: rows.filter(({ n }) => n !== 1).map(({ id }) => id),
    invented: [...stored].filter((id) => !sent.has(id)),
    torn: senders.unanswered.filter(
      (ids) => ids.some((id) => stored.has(id)) && !ids.every((id) => stored.has(id)),
    ),
    apart: apart[0]!.n,
    log: [
      ...expected.filter((n) => logged.get(n) !== 1),
      ...[...logged.keys()].filter((n) => n > appended),
    ],
  }
}

test.run()
