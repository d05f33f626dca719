// The order in which directories are synced: a power cut must not find events acked and the log of their commit nameless.

import { statSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { dirname } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Claim } from '../../../src/buffer/claim-source.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { events } from '../../support/handmade-models.ts'
import { openProject } from '../../support/pipeline-project.ts'

/** Notes the path of every file and directory that is synced, until it is disposed. */
function watchSyncs(note: (path: string) => void): Disposable {
  const { open } = fs
  fs.open = async (path, ...rest) => {
    const handle = await open(path, ...rest)
    const sync = handle.sync.bind(handle)
    handle.sync = async () => {
      await sync()
      note(String(path))
    }
    return handle
  }
  syncBuiltinESMExports()
  return {
    [Symbol.dispose]() {
      fs.open = open
      syncBuiltinESMExports()
    },
  }
}

test('what names the warehouse and its log is on disk before events leave the buffer', async () => {
  await using space = await openProject()
  const { database } = space.paths
  const state = dirname(database)
  const order: string[] = []
  /** The log that lay in the directory when that was last synced. */
  let named = 'none'
  class WatchedClaims extends FakeClaims {
    override ack(claim: Pick<Claim, 'id'>): Promise<number> {
      order.push(logOf(database) === named ? 'ack' : `ack, while ${logOf(database)} has no name`)
      return super.ack(claim)
    }
  }
  const claims = new WatchedClaims(space.path('elsewhere'))
  await claims.add('raw.e', [{ id: 1 }])
  await claims.add('raw.e', [{ id: 2 }])
  using _watch = watchSyncs((path) => {
    order.push(`sync ${path}`)
    if (path === state) named = logOf(database)
  })
  await space.ok([events('raw.e', { id: 'INTEGER' })], {
    openClaims: () => Promise.resolve(claims),
    onFlushStep: (step) => void (step === 'recorded' && order.push(step)),
  })
  assert.is(order[order.lastIndexOf('recorded') + 1], 'ack')
  assert.equal(order.filter((entry) => entry.startsWith('ack')).slice(1), ['ack'])
  const first = order.indexOf('recorded')
  assert.ok(order.slice(0, first).includes(`sync ${space.dir}`), 'the state directory was made')
  assert.ok(order.slice(0, first).includes(`sync ${state}`), 'the warehouse was made')
})

/** Which write-ahead log there is: the engine removes it and makes another one at any time. */
function logOf(database: string): string {
  const log = statSync(`${database}.wal`, { throwIfNoEntry: false, bigint: true })
  return log === undefined ? 'no log' : `log ${log.ino} ${log.birthtimeNs}`
}

test.run()
