import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CompiledProject } from '../../src/core/model.ts'
import { writeArtifacts } from '../../src/pipeline/artifacts.ts'
import type { RunSummary } from '../../src/core/report/progress.ts'
import { projectOf, query } from '../support/handmade-models.ts'
import { workspace } from '../support/workspace.ts'

const summary: RunSummary = {
  runId: 'r',
  ok: true,
  startedAt: new Date(0),
  ms: 1,
  flushed: [],
  models: [],
  snapshot: null,
  orphans: [],
  byHand: [],
}

/** A project whose lineage says how often it was asked for: once for each manifest that is written. */
function counted(identity?: string) {
  const count = { written: 0 }
  const project: CompiledProject = {
    ...projectOf(query('a.t', 'select 1 as v')),
    ...(identity === undefined ? {} : { identity }),
    trails: () => new Map(),
    lineage: () => {
      count.written++
      return new Map()
    },
  }
  return { project, count }
}

async function directory() {
  const dir = await mkdtemp(join(tmpdir(), 'eider-artifacts-'))
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true }) }
}

test('the manifest of the same project is left alone; one that is cut, gone or of another is written', async () => {
  await using space = await directory()
  const path = join(space.dir, 'manifest.json')
  const { project, count } = counted('one')
  const written = async (given = project) => {
    count.written = 0
    await writeArtifacts(space.dir, given, summary, new Map())
    return count.written
  }
  assert.is(await written(), 1)
  const whole = await readFile(path, 'utf8')
  assert.is(await written(), 0)
  for (const damaged of ['', whole.slice(0, 30), whole.slice(0, -1), whole.slice(0, -40)]) {
    await writeFile(path, damaged)
    assert.is(await written(), 1)
    assert.is(await readFile(path, 'utf8'), whole)
  }
  await rm(path)
  assert.is(await written(), 1)
  assert.is(await written({ ...project, identity: 'two' }), 1)
  assert.is(await written(), 1)
  assert.is(await readFile(path, 'utf8'), whole)
})

test('a project without an identity has its manifest written each time', async () => {
  await using space = await directory()
  const { project, count } = counted()
  for (const runs of [1, 2]) {
    await writeArtifacts(space.dir, project, summary, new Map())
    assert.is(count.written, runs)
  }
  const manifest = JSON.parse(await readFile(join(space.dir, 'manifest.json'), 'utf8')) as object
  assert.not('project' in manifest)
})

test('the manifest follows the models and the data from run to run, and comes back when it is deleted', async () => {
  await using space = await workspace({
    'eider.yml': 'name: p\n',
    'models/a/t.sql': '-- @description: One\nFROM s.seed\n',
    'seeds/s/seed.csv': 'id\n1\n',
  })
  const manifest = () => readFile(space.path('target/manifest.json'), 'utf8')
  const runTwice = async () => {
    await space.ok(['run', '--quiet'])
    const first = await manifest()
    await space.ok(['run', '--quiet'])
    assert.is(await manifest(), first)
    return first
  }
  const first = await runTwice()
  assert.match(first, '"lineage": [')
  await rm(space.path('target'), { recursive: true })
  assert.is(await runTwice(), first)
  await space.write('models/a/t.sql', '-- @description: Two\nFROM s.seed\n')
  assert.match(await runTwice(), '"description": "Two"')
  await space.write('seeds/s/seed.csv', 'id,more\n1,2\n')
  assert.match(await runTwice(), '"name": "more"')
})

test.run()
