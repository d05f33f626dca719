// A run after one that found nothing to do does not start the engine. Whatever is touched in between, the run sees it: one
// that has lost its note, and so looks at everything, then finds nothing that was left.

import { startDaemon } from '../support/daemon-process.ts'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Edit, runAfterEach } from '../support/idle-project.ts'
import type { Workspace } from '../support/workspace.ts'

async function inWarehouse(space: Workspace, statement: string): Promise<void> {
  const instance = await DuckDBInstance.create(space.path('.eider/warehouse.duckdb'))
  const connection = await instance.connect()
  await connection.run(statement)
  connection.closeSync()
  instance.closeSync()
}

async function collect(space: Workspace): Promise<void> {
  await using daemon = await startDaemon(space)
  const body = '{"order_id":1,"country":"NO"}'
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${daemon.url}/collect/raw/orders`, { method: 'POST', headers, body })
  assert.is(answer.status, 202)
  await daemon.stop('SIGTERM')
}

const snapshotFile = async (space: Workspace, pattern: RegExp): Promise<string> => {
  const names = await readdir(space.path('.eider/snapshots'))
  return space.path(
    '.eider/snapshots',
    names.find((name) => pattern.test(name))!,
  )
}

const edits: readonly Edit[] = [
  { what: 'events that wait', make: collect, isWork: true },
  {
    what: 'a table dropped by another program',
    make: (space) => inWarehouse(space, 'DROP TABLE mart.named'),
    isWork: true,
  },
  {
    what: 'a published file that is gone',
    make: async (space) => rm(await snapshotFile(space, /^m-/)),
    isWork: false, // it is written again, which is no work on a model
  },
  {
    what: 'the manifest gone',
    make: (space) => rm(space.path('.eider/snapshots/manifest.json')),
    isWork: false,
  },
  {
    what: 'a mark of damage',
    make: async (space) => writeFile(`${await snapshotFile(space, /^m-.*duckdb$/)}.damaged`, ''),
    isWork: false,
  },
]

test('a run sees events, and what is gone or damaged in the target, after one that found nothing to do', () =>
  runAfterEach(edits, 7))

test.run()
