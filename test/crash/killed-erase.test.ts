// `eider erase` that is killed after each of its steps: the same command goes on with it, and then no file of the project
// holds the value any more.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startDaemon } from '../support/daemon-process.ts'
import { eraseFiles, sendOrders } from '../support/erase-project.ts'
import { findText } from '../support/find-text.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const SECRET = 'Mathilde-7f3a'
const CONDITION = 'customer_id = 7'

const steps = [
  ...(['flushed', 'recorded', 'committed', 'deleted', 'built'] as const),
  ...(['copied', 'rewritten', 'removed'] as const),
]

async function withPerson(space: Workspace): Promise<void> {
  for (const round of [1, 2]) {
    await using daemon = await startDaemon(space)
    const order = (id: number, customer: number, name: string) => {
      return { order_id: id, customer_id: customer, name: `${name} ${round}`, amount: round }
    }
    await sendOrders(space, daemon.url, [order(1, 7, SECRET), order(2, 8, 'Olga')])
    if (round === 1) await space.ok(['run'], { env: adminOf(daemon) })
  }
}

const adminOf = ({ adminUrl }: { readonly adminUrl: string | undefined }) => ({
  COLLECT_ADMIN_PORT: new URL(adminUrl!).port,
})

async function killAfter(space: Workspace, step: string): Promise<void> {
  const script = fileURLToPath(new URL('../support/erase-child.js', import.meta.url))
  const child = spawn(process.execPath, [script, space.dir, 'raw.orders', CONDITION, step], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [, signal] = (await once(child, 'close')) as [number | null, string | null]
  assert.is(signal, 'SIGKILL', `it was not killed after ${step}`)
}

/** Made once; each test has a copy. */
let made: Workspace
test.before(async () => {
  made = await workspace(eraseFiles)
  await withPerson(made)
})
test.after(async () => {
  await made[Symbol.asyncDispose]()
})

async function copyOfMade(): Promise<Workspace> {
  const space = await workspace()
  // The lock of the daemon that has sent the events is that of the other directory.
  const filter = (path: string) => !path.includes('collect.lock')
  await cp(made.dir, space.dir, { recursive: true, filter })
  return space
}

for (const step of steps)
  test(`killed after the step ${step}, the same command ends it`, async () => {
    await using space = await copyOfMade()
    await killAfter(space, step)
    const isBegun = step !== 'flushed'
    const { stdout: doctor } = await space.eider(['doctor'])
    assert.is(/an erasure in raw\.orders that began at/.test(doctor), isBegun)
    if (step === 'committed' || step === 'copied') {
      // A run between the two changes nothing of it.
      const { stderr } = await space.ok(['run'])
      assert.match(stderr, 'is unfinished')
    }
    const { stdout } = await space.ok(['erase', 'raw.orders', CONDITION])
    assert.match(stdout, /erased +raw\.orders +2 rows\n/)
    assert.match(stdout, /erased +core\.orders +1 row\n/)
    assert.equal(await findText(space.dir, SECRET), [])
    const { stdout: served } = await space.ok(['odata', 'preview', 'core_history'])
    assert.match(served, 'Olga')
    const { stdout: after } = await space.eider(['doctor'])
    assert.not.match(after, 'unfinished')
    assert.match((await space.ok(['erase', 'raw.orders', CONDITION])).stdout, 'nothing was changed')
  })

test('without an erasure the value is found, so that the search could find it', async () => {
  const found = await findText(made.dir, SECRET)
  assert.ok(found.some((place) => place.startsWith('.eider/buffer/')))
  assert.ok(found.some((place) => /^\.eider\/snapshots\/m-.* main\.rows$/.test(place)))
  assert.ok(found.includes('.eider/warehouse.duckdb raw.orders'))
})

test.run()
