// Connections to PostgreSQL are lost at each message of an engine's life. DuckDB ends the process by SIGABRT when it closes a
// connection in a transaction that it cannot roll back, which src/duckdb/database.ts avoids. Answers that PostgreSQL has not
// finished break the engine: a command says so in one line, and one that goes on ends.
//
// EIDER_LAKE_CUTS=all cuts at each message instead of each ninth.

// Its commands are processes: DuckDB may end one.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'

const STEP = process.env['EIDER_LAKE_CUTS'] === 'all' ? 1 : 9

/** The query by which the extension reads what tables PostgreSQL has. */
const SCHEMAS = /FROM pg_namespace/

lakeTest(
  'an engine whose connections are lost at any message is closed, and the process lives',
  async () => {
    await using lake = await withLake()
    using child = startChild(lake)
    assert.is(await child.round(), 'whole')
    lake.catalog.forget()
    assert.is(await child.round(), 'whole')
    const messages = lake.catalog.queries.length
    let failed = 0
    for (let at = 1; at <= messages; at += STEP) {
      lake.catalog.cutIn = at
      const said = await child.round()
      assert.is.not(said, null, `the process ended after message ${at} of ${messages}`)
      if (said !== 'whole') failed++
    }
    assert.ok(failed > messages / STEP / 2, `${failed} failed`)
    lake.catalog.cutIn = 0
    assert.is(await child.round(), 'whole')
    lake.catalog.emptyAt = SCHEMAS
    assert.match(String(await child.round()), /Attempted to access index 0 within vector of size 0/)
    assert.is(await child.round(), 'whole')
  },
)

lakeTest('a broken engine gives one line and exit code 3, and ends what goes on', async () => {
  await using lake = await withLake()
  await using space = await lakeProject(lake, {
    'models/raw/orders.sql': '-- @kind: events\nid bigint not null\n',
  })
  await space.ok(['run'])
  for (const args of [
    ['run'],
    ['ls'],
    ['query', 'SELECT 1'],
    ['maintain'],
    ['pull'],
    ['pull', '--every', '1s'],
    ['flush', '--every', '1s'],
  ]) {
    lake.catalog.emptyAt = SCHEMAS
    const { exitCode, stderr } = await space.eider(args)
    assert.is(exitCode, 3, `${args.join(' ')}: ${stderr}`)
    assert.match(stderr, /^error: the connection to PostgreSQL was lost/, args.join(' '))
    assert.is(stderr.match(/error/g)?.length, 1, stderr)
    assert.not.match(stderr, /duckdb|vector of size/i)
    if (lake.catalog.emptyAt !== null)
      throw new Error(`${args.join(' ')} has not asked for schemas`)
  }
  await space.ok(['run'])
})

function startChild(lake: TestLake) {
  const program = fileURLToPath(new URL('../support/lake/closing-child.js', import.meta.url))
  const given = JSON.stringify({ settings: lake.settings, env: lake.env })
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, LAKE: given, UV_THREADPOOL_SIZE: '24' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    /** What it says; null: it has ended. */
    async round(): Promise<unknown> {
      child.stdin.write('go on\n')
      const { value, done } = await lines.next()
      return done === true ? null : JSON.parse(value)
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

test.run()
