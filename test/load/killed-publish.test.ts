// Runs that are killed while they publish, at each step of it and at random moments, with clients on a service that lives
// on, and a fresh service after each kill: every answer is whole and of one generation, and the next run cleans up.

import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { catalogFile, parseManifest } from '../../src/core/snapshot.ts'
import { ODataService } from '../../src/odata/service.ts'
import { fileReader } from '../../src/store/files/reader.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { startProcess } from '../crash/processes.ts'
import { usualOptions } from '../support/odata-service.ts'
import type { Workspace } from '../support/workspace.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { Client, generationsProject, isLong, runOf } from './generations.ts'

const SEED = 20_260_301
const CLIENTS = 4
/** The runs shall have the machine. */
const PAUSE_MS = 30
const RANDOM_KILLS = isLong ? 40 : 2
/** Calls of a publication of two models, and the few behind it; killed before and after each of every so many. */
const EVERY = isLong ? 1 : 11
const COMPLETE_EVERY = isLong ? 10 : 5

/** What a fresh service answers, which `eider serve` opens in the same way. */
async function generationAnew(space: Workspace, seen: Map<string, number>): Promise<number> {
  await using service = await ODataService.open({
    published: fileReader(space.path('.eider/snapshots')),
    ...usualOptions,
    accessLog: false,
    tempDir: space.path('.eider/tmp'),
    logger: silentLogger,
  })
  const client = new Client(service.url, seen)
  const generations = [await client.askOnce(), await client.askOnce(), await client.askOnce()]
  client.close()
  assert.is(new Set(generations).size, 1)
  return generations[0]!
}

const filesOf = async (space: Workspace) =>
  (await readdir(space.path('.eider/snapshots'))).toSorted()

/** Nothing but what the manifests name. */
async function checkTidy(space: Workspace): Promise<void> {
  const names = await filesOf(space)
  const manifests = names.filter((name) => name.startsWith('manifest-'))
  const texts = manifests.map((name) => readFile(space.path('.eider/snapshots', name), 'utf8'))
  const snapshots = (await Promise.all(texts)).map(parseManifest)
  const named = snapshots.flatMap(({ relations }) => relations.map(({ file }) => file))
  // A run that is killed may not have come to it.
  const catalogs = snapshots.map(({ id }) => catalogFile(id)).filter((name) => names.includes(name))
  const expected = new Set([...named, ...manifests, ...catalogs, 'manifest.json', 'current.sql'])
  assert.equal(names, [...expected].toSorted())
}

test('killed while it publishes: no wrong answer, no failed request, and nothing is left behind', async () => {
  await using space = await generationsProject(2)
  await space.ok(runOf(1))
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  const seen = new Map<string, number>()
  let isOver = false
  const clients = Array.from({ length: CLIENTS }, () => new Client(service.url, seen))
  const asking = Promise.all(clients.map((client) => client.askUntil(() => isOver, PAUSE_MS)))
  asking.catch(() => {}) // awaited below

  let [generation, published, kills] = [1, 1, 0]
  const afterKill = async (ended: NodeJS.Signals | number | null) => {
    if (ended === 'SIGKILL') kills++
    const now = await generationAnew(space, seen)
    assert.ok(now >= published && now <= generation, `${now} is neither old nor new`)
    published = now
    // Kept are two snapshots, each a manifest, a catalog and a file for each model; beside them may be as much of a
    // publication that was cut, new files under their temporary names, one with its log, manifest.json and current.sql.
    const names = await filesOf(space)
    assert.ok(names.length <= 3 * (2 + 2) + 3 + 2, names.join(' '))
    if (kills % COMPLETE_EVERY !== 0) return
    await space.ok(runOf(++generation))
    published = await generationAnew(space, seen)
    assert.is(published, generation)
    await checkTidy(space)
  }

  let survivals = 0
  for (let at = 1; survivals < 2; at += EVERY)
    for (const when of isLong ? ['before', 'after'] : [at % 2 === 0 ? 'before' : 'after']) {
      const run = startProcess(space, runOf(++generation), { death: `${when} ${at} snapshots` })
      const ended = await run.ended
      if (ended !== 'SIGKILL') {
        assert.is(ended, 0, run.output())
        survivals++
      }
      await afterKill(ended)
    }
  const random = seededRandom(SEED)
  for (let kill = 0; kill < RANDOM_KILLS; kill++) {
    const run = startProcess(space, runOf(++generation))
    await Promise.race([sleep(200 + random() * 1_000), run.ended])
    run.kill('SIGKILL')
    await afterKill(await run.ended)
  }

  await space.ok(runOf(++generation))
  assert.is(await generationAnew(space, seen), generation)
  await checkTidy(space)
  isOver = true
  await asking
  assert.ok(kills >= (isLong ? 40 : 4), `only ${kills} kills`)
  for (const client of clients) assert.ok(client.asked > kills)
  assert.is(await service.stop(), 0)
  process.stdout.write(
    `${kills} kills, ${clients.reduce((n, { asked }) => n + asked, 0)} requests\n`,
  )
})

test.run()
