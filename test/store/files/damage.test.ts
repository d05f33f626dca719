// What is found wrong with files of a snapshot, and that a run writes them anew although their models are unchanged.

import { access, mkdir, readdir, readFile, rm, stat, truncate } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger, type LogLine } from '../../../src/core/logger.ts'
import { damageMarkerFile, parseManifest, type Snapshot } from '../../../src/core/snapshot.ts'
import { isDamage, toDatabaseError } from '../../../src/duckdb/errors.ts'
import { fileReader } from '../../../src/store/files/reader.ts'
import { type TestProject, openProject } from '../../support/pipeline-project.ts'
import { query } from '../../support/handmade-models.ts'
import { flipBit } from '../../support/flip-bit.ts'

const ROWS =
  "SELECT i AS id, 'text ' || hash(i) AS text, hash(i, 1) AS number FROM range(60000) AS r(i)"
const models = [
  query('mart.hit', ROWS, { expose: ['id'] }),
  query('mart.other', 'select 1 as id', { expose: ['id'] }),
]
const NEVER = new AbortController().signal

const published = async (space: TestProject) =>
  parseManifest(await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8'))

const readerOf = (space: TestProject) => fileReader(space.path('.eider/snapshots'))

function find(space: TestProject, snapshot: Snapshot) {
  const engine = { threads: 1, memoryLimit: null, tempDir: space.path('temp') }
  return readerOf(space).findDamage(snapshot, engine, NEVER)
}

async function findAndMark(space: TestProject, snapshot: Snapshot, log: LogLine[] = []) {
  const found = await find(space, snapshot)
  const logger = createLogger((line) => log.push(line))
  await readerOf(space).markDamage(found, logger)
  return found
}

const sizeOf = async (path: string) => (await stat(path)).size
const shorter = 'does not have the size that the manifest lists'
const damages: readonly (readonly [string, string, (path: string) => Promise<void>])[] = [
  [
    'has changed bytes in the middle',
    'is damaged',
    async (path) => flipBit(path, Math.floor((await sizeOf(path)) / 3)),
  ],
  [
    'has changed bytes near its end',
    'is damaged',
    async (path) => flipBit(path, (await sizeOf(path)) - 1000),
  ],
  ['has changed bytes in its head', 'is damaged', (path) => flipBit(path, 100)],
  ['has another mark of its format', 'is damaged', (path) => flipBit(path, 8)],
  ['is cut short', shorter, async (path) => truncate(path, Math.floor((await sizeOf(path)) / 2))],
  ['is empty', shorter, (path) => truncate(path, 0)],
  ['is gone', 'is missing', (path) => rm(path)],
]

test('a file that is damaged in whatever way is found, and whole again after the next run', async () => {
  await using space = await openProject()
  await space.ok(models)
  for (const [what, problem, damage] of damages) {
    const before = await published(space)
    assert.equal(await find(space, before), [], what)
    const { file } = before.relations[0]!
    await damage(space.path('.eider/snapshots', file))
    const found = await findAndMark(space, before)
    assert.equal(found, [{ file, problem: `${file} ${problem}` }], what)
    await access(space.path('.eider/snapshots', damageMarkerFile(file)))
    const untouched = await sizeOf(space.path('.eider/snapshots', before.relations[1]!.file))
    await space.ok(models)
    const after = await published(space)
    assert.is(after.relations[0]!.file, file, what)
    assert.equal(await find(space, after), [], what)
    const names = await readdir(space.path('.eider/snapshots'))
    assert.not(names.some((name) => name.endsWith('.damaged')))
    assert.is(await sizeOf(space.path('.eider/snapshots', after.relations[1]!.file)), untouched)
  }
})

test('a marker stays as long as its file, and goes with it', async () => {
  await using space = await openProject()
  await space.ok(models)
  const first = await published(space)
  const { file } = first.relations[0]!
  const marker = space.path('.eider/snapshots', damageMarkerFile(file))
  await flipBit(space.path('.eider/snapshots', file), 100)
  await findAndMark(space, first)
  const changed = (rows: number) => [
    query('mart.hit', `${ROWS} LIMIT ${rows}`, { expose: ['id'] }),
    models[1]!,
  ]
  // The file is no longer current, but a link may still lead to it.
  await space.ok(changed(10))
  await access(marker)
  const retention = { snapshots: 1, ms: 0 }
  await space.ok(changed(20), { retention })
  assert.not((await readdir(space.path('.eider/snapshots'))).includes(damageMarkerFile(file)))
})

test('where a service cannot write a marker, its log says what to do', async () => {
  await using space = await openProject()
  await space.ok(models)
  const snapshot = await published(space)
  const { file } = snapshot.relations[0]!
  await flipBit(space.path('.eider/snapshots', file), 100)
  const log: LogLine[] = []
  await mkdir(space.path('.eider/snapshots', damageMarkerFile(file)))
  await findAndMark(space, snapshot, log)
  const [line] = log.filter(({ event }) => event === 'snapshot-file-unmarked')
  assert.is(line?.fields['file'], file)
  assert.match(String(line?.fields['hint']), 'delete the file')
})

test('words of a caller in an error of the engine are no damage', () => {
  const words = (type: string, message: string) =>
    toDatabaseError(JSON.stringify({ exception_type: type, exception_message: message }))
  assert.ok(isDamage(words('IO', 'Corrupt database file: computed checksum 1')))
  const value = "Could not convert string 'Could not read' to INT32"
  assert.not(isDamage(words('Conversion', value)))
})

test.run()
