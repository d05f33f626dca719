// Commands that look at a project where nothing has changed since the last run do without the engine, and say the same.

import { existsSync, renameSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { isIdle, note, overwrite, run, SHOP, waiting } from '../support/idle-project.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const COMMANDS = [
  ['ls', '--json'],
  ['ls', '+mart.named', '--exclude', 'ref.countries'],
  ['ls', 'state:modified'],
  ['history', '--json'],
  ['history', '--limit', '1'],
  ['history', 'MART.named'],
  ['history', 'raw.orders', '--json', '--limit', '2'],
]

const answers = async (space: Workspace) => {
  const all: string[] = []
  for (const args of COMMANDS) all.push((await space.ok(args)).stdout)
  return all
}

/** With the engine and without. */
async function assertSame(space: Workspace): Promise<void> {
  const short = await answers(space)
  renameSync(note(space), space.path('note'))
  assert.equal(await answers(space), short)
  renameSync(space.path('note'), note(space))
}

const noted = async () => {
  const space = await workspace(SHOP)
  await sleep(limits.racyMs + 100)
  await space.ok(['run'])
  assert.ok(existsSync(note(space)), 'a run that built leaves a note')
  return space
}

test('ls and history say the same with the engine and without', async () => {
  await using space = await noted()
  assert.ok(isIdle(await run(space)))
  assert.is(waiting(space), 1)
  await assertSame(space)
  await rm(space.path('models/mart/ordered.sql'))
  await space.write('models/mart/more.sql', 'SELECT 1 AS id')
  await space.ok(['run'])
  await assertSame(space)
  assert.match((await space.ok(['ls'])).stdout, /mart\.ordered +view +a view, and no file/)
})

test('ls shows what has changed since the note', async () => {
  await using space = await noted()
  const ls = async () => (await space.ok(['ls'])).stdout
  assert.match(await ls(), /core\.rates +table +core_rates +nothing changed/)
  await overwrite(space, 'data/rates.csv', 'NO,1', 'NO,5')
  assert.match(await ls(), /core\.rates +table +core_rates +file data\/rates\.csv changed/)
  await overwrite(space, 'data/rates.csv', 'NO,5', 'NO,1')
  await space.write('models/mart/ordered.sql', '-- @kind: view\nSELECT 1 AS one')
  assert.match(await ls(), /mart\.ordered +view +definition changed/)
})

test('history without copies of runs reads the warehouse', async () => {
  await using space = await noted()
  const before = (await space.ok(['history'])).stdout
  const copies = space.path('.eider/last/runs')
  for (const name of await readdir(copies)) await rm(`${copies}/${name}`)
  assert.is((await space.ok(['history'])).stdout, before)
})

test.run()
