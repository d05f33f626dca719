// A run after one that found nothing to do does not start the engine, and leaves what any run leaves.

import { existsSync, readFileSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  historyOf,
  isIdle,
  note,
  overwrite,
  type Result,
  run,
  settle,
  SHOP,
  waiting,
} from '../support/idle-project.ts'
import { workspace } from '../support/workspace.ts'

test('a run without the engine leaves what one with it leaves', async () => {
  await using space = await workspace(SHOP)
  await space.ok(['run'])
  const left = async (isNoted: boolean) => {
    const forget = () => (isNoted ? undefined : rm(note(space), { force: true }))
    await forget()
    const { stdout } = await space.ok(['run', '--json'])
    await forget()
    const shown = await space.ok(['run'])
    const [id] = await historyOf(space)
    const read = (path: string) => readFileSync(space.path(path), 'utf8')
    const snapshots = await readdir(space.path('.eider/snapshots'))
    const catalog = snapshots.find((name) => name.startsWith('catalog-'))!
    const [newest] = (JSON.parse(read(`.eider/snapshots/${catalog}`)) as { runs: Result[] }).runs
    const texts = [stdout, shown.stdout, read('target/run_results.json'), JSON.stringify(newest)]
    assert.is(newest!.run_id, id)
    assert.is((JSON.parse(texts[2]!) as Result).run_id, id)
    assert.ok(existsSync(space.path(`.eider/last/runs/${id}.json`)))
    return texts.map((text) =>
      text
        .replaceAll(/\d{8}T\d{6}Z-\w+/g, 'ID')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
        .replaceAll(/"ms": ?\d+|in \d[\d.]* m?s/g, 'MS'),
    )
  }
  await settle(space)
  const short = await left(true)
  assert.is(waiting(space), 2)
  assert.equal(await left(false), short)
  assert.is(waiting(space), 0)
})

test('runs without the engine are recorded once, by the next one with it', async () => {
  await using space = await workspace(SHOP)
  await space.ok(['run'])
  await settle(space)
  await run(space)
  await run(space)
  const saved = readFileSync(space.path('.eider/idle-runs.ndjson'), 'utf8')
  const before = await historyOf(space)
  assert.is(before.length, 4)
  await overwrite(space, 'data/rates.csv', 'NO,1', 'NO,5')
  await run(space)
  assert.equal((await historyOf(space)).slice(1), before)
  // As after a power cut that brings the file back, with a line that was being written.
  await writeFile(space.path('.eider/idle-runs.ndjson'), `${saved}\n{"run_id":"cut`)
  assert.equal((await historyOf(space)).slice(1), before)
  await overwrite(space, 'data/rates.csv', 'NO,5', 'NO,6')
  await run(space)
  assert.equal((await historyOf(space)).slice(2), before)
})

test('a run without the engine that is killed leaves nothing that the next one stumbles over', async () => {
  await using space = await workspace(SHOP)
  await space.ok(['run'])
  await settle(space)
  for (const timeoutMs of [60, 90, 120, 150, 180, 210, 240])
    await space.eider(['run'], { timeoutMs }).catch(() => null)
  const ids = await historyOf(space)
  assert.is(new Set(ids).size, ids.length)
  assert.ok(isIdle(await run(space)))
  await rm(note(space), { force: true })
  assert.ok(isIdle(await run(space)))
})

test.run()
