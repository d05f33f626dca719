// docs/schemas/events.json describes each line that a command prints with --json.

import { rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { extensionFile } from '../../src/duckdb/extension-files.ts'
import { startDaemon } from '../support/daemon-process.ts'
import { mistakes, schemaOf } from '../support/json-schema.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml':
    'name: t\ntargets: { copy: {}, dev: { allow_sample: true } }\nextensions: { directory: ext }\nsources:\n  crm:\n    tables:\n      c: { file: crm.csv }\n',
  'crm.csv': 'id,name\n1,Ann\n',
  'models/raw/e.sql': '-- @kind: events\nid bigint not null\n',
  'models/a/good.sql': '-- @tags: x\n-- @expose id\nselect 1 as id, id as crm from crm.c\n',
  'models/a/view.sql': '-- @kind: view\nselect id from a.good\n',
  'models/a/gone.sql': '-- @expose id\nselect 3 as id\n',
}
const tests = {
  'tests/a/good/t/given/crm.c.csv': 'id\n7\n',
  'tests/a/good/t/expect.csv': 'id\n2\n',
}
const { $defs: defs = {} } = schemaOf('events')

const seen = new Set<string>()
const LAST = [
  'buffer-flushed',
  'client',
  'compacted',
  'completion',
  'docs-diagram',
  'docs-written',
  'dropped',
  'erased',
  'error',
  'explained',
  'export',
  'failed',
  'help',
  'initialized',
  'lineage',
  'model-explained',
  'moved',
  'republished',
  'restored',
  'rows-written',
  'source',
  'status',
  'target-moved',
  'test-recorded',
  'token',
  'unit',
  'version',
]

/** Tests in test/lake/ look at them, or test/commands/up.test.ts. */
const NEED_A_LAKE = ['maintained', 'pulled']
const NEED_UP =
  /^(?:up-(?:ready|stopping)|service-(?:started|ended)|scheduled-runs?-\w+|run-late|set-(?:behind|fresh)|notified)$/

/** Each line is one of the events; the last one says how it went. */
function checked(stdout: string, command: string): void {
  const lines = stdout.trim().split('\n')
  const names = lines.map((line) => {
    const value = JSON.parse(line) as { readonly event: string }
    const schema = defs[value.event]
    assert.ok(schema !== undefined, `${command}: no event ${line}`)
    assert.equal(mistakes(schema, value), [], `${command}: ${line}`)
    seen.add(value.event)
    return value.event
  })
  const last = names.at(-1)!
  assert.ok(/-(?:finished|details|status)$/.test(last) || LAST.includes(last), command)
}

async function ask(space: Workspace, command: string, exitCode = 0): Promise<void> {
  const { stdout } = await space.ok([...command.split(' '), '--json'], { exitCode })
  checked(stdout, command)
}

test('every line of every command is as the schema says', async () => {
  await using space = await workspace(files)
  {
    await using daemon = await startDaemon(space)
    checked(`${daemon.stdout().trim()}\n{"event":"ls-finished","models":0}`, 'collect daemon')
    for (const id of ['1', '2']) {
      const { status } = await fetch(`${daemon.url}/collect/raw/e`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: `{"id":${id}}`,
      })
      assert.is(status, 202)
    }
  }
  await ask(space, 'collect status')
  await ask(space, 'flush')
  for (const [path, text] of Object.entries(tests)) await space.write(path, text)
  await ask(space, 'test', 1)
  await ask(space, 'plan')
  await ask(space, 'run a.good raw.e a.gone')
  await ask(space, 'run --profile')
  await ask(space, 'test --record a.good recorded --where true')
  await ask(space, 'explain a.good --analyze')
  await space.write('models/a/good.sql', '-- @expose key\nselect 2 as key, id as crm from crm.c\n')
  await space.write('models/a/view.sql', '-- @kind: view\nselect key from a.good\n')
  await rm(space.path('models/a/gone.sql'))
  await ask(space, 'plan --diff', 1)
  await ask(space, 'run', 1)
  await ask(space, 'plan --accept all')
  await ask(space, 'run')
  {
    await using database = await Database.open({ path: space.path('.eider', 'warehouse.duckdb') })
    await using connection = await database.connect()
    await connection.run(sql`INSERT INTO a.good VALUES (9, 9)`)
  }
  await ask(space, 'run')
  await ask(space, 'publish --all')
  await ask(space, 'maintain')
  await ask(space, `restore a.good --at ${new Date().toISOString().slice(0, 10)}`)
  await ask(space, 'run a.view --target dev --from default --sample 50%')
  for (const command of ['ls', 'show a.good', 'show a.good --lineage', 'show crm.c', 'history'])
    await ask(space, command)
  for (const command of [
    'history a.good',
    'doctor',
    'version --verbose',
    'run --help',
    'completion bash',
    'init fresh',
    'docs',
    'docs --mermaid',
    'client python',
  ])
    await ask(space, command)
  await ask(space, 'contract a.good')
  await ask(space, 'export odcs --out c.yaml')
  await ask(space, 'import c.yaml')
  await ask(space, 'fmt --check', 1)
  await ask(space, 'token excel')
  await ask(space, 'odata explain a_good')
  await ask(space, 'status', 1)
  await ask(space, 'up --print systemd')
  await space.write(extensionFile('ext', 'excel'), 'damaged')
  await ask(space, 'extension install')
  await ask(space, 'extension list')
  await ask(space, 'show', 2)
  await space.write('models/a/view.sql', 'select nothing from a.good\n')
  await ask(space, 'plan', 1)
  const kept = '.eider/buffer/raw.e/1-00000000.damaged'
  await space.write(kept, '{"s":1}\n')
  await ask(space, 'run', 1)
  await ask(space, 'flush', 1)
  await ask(space, 'collect status')
  await rm(space.path(kept))
  await ask(space, 'check', 1)
  await ask(space, 'query x', 1)
  await ask(space, 'query a.good --output rows.csv')
  await ask(space, 'drop a.gone')
  await ask(space, 'erase raw.e id=1')
  await ask(space, 'mv a.good a.better')
  await ask(space, 'move --to copy')
  assert.equal(
    Object.keys(defs).filter(
      (name) => !seen.has(name) && !NEED_A_LAKE.includes(name) && !NEED_UP.test(name),
    ),
    [],
  )
})

test('the schema finds other names, other types and parts of milliseconds', () => {
  const finished = { event: 'run-finished', run_id: 'r', ok: true, ms: 1 }
  assert.equal(mistakes(defs['run-finished']!, finished), [])
  for (const change of [{ ms: 0.5 }, { runId: 'r' }, { ok: 'yes' }, { run_id: undefined }])
    assert.is(mistakes(defs['run-finished']!, { ...finished, ...change }).length, 1)
})

test.run()
