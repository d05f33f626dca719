// Sources that cannot be read, at all or to their end.

import { startDaemon } from '../support/daemon-process.ts'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

/** What a run says of each model: its warning, or why it was built or failed. */
async function results(space: Workspace, exitCode = 0): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await space.ok(['run', '--json'], { exitCode })
  const lines = stdout.trim().split('\n')
  const events = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  return Object.fromEntries(
    events
      .filter(({ event }) => event === 'model-finished')
      .map(({ model, because, warnings }) => [model as string, String(warnings ?? because)]),
  )
}

const logs = {
  'eider.yml': `name: s
sources: {files: {tables: {log: {file: data/log.csv, loaded_at: at, warn_after: 1 day}}}}\n`,
  'models/a/log.sql': 'SELECT a FROM files.log\n',
  'models/a/own.sql': 'SELECT 1 AS a\n',
}

test('a source that cannot be read to its end fails those that read it, and no other', async () => {
  const rows = Array.from({ length: 30_000 }, (_, i) => `${i},2024-01-01\n`).join('')
  await using space = await workspace({ ...logs, 'data/log.csv': `a,at\n${rows}1,never\n` })
  const built = await results(space, 1)
  assert.match(built['a.log']!, 'the source files.log cannot be read: log.csv, line 30002: ')
  assert.is(built['a.own'], 'first build')
})

test('a source that is missing is one mistake, and none to the daemon', async () => {
  const event = '-- @kind: events\nid BIGINT NOT NULL\n'
  await using space = await workspace({ ...logs, 'models/raw/event.sql': event })
  await space.write('models/a/after.sql', 'SELECT a FROM a.log\n')
  const more = `  crm: {postgres: "\${BROKEN_URL}", tables: {t: }}\n  app: {sqlite: app.db, tables: {t: }}\n`
  const only = `sources:\n  files: {tables: {log: {file: data/log.csv}}}\n`
  await space.write('eider.yml', `name: s\nextensions: {directory: none}\n${only}${more}`)
  const { stdout } = await space.ok(['run', '--json'], { exitCode: 1 })
  assert.equal(stdout.match(/"code":"[a-z-]+"/g), [
    '"code":"invalid-source"',
    '"code":"secret-not-set"',
    '"code":"extension-missing"',
    '"code":"project-mistakes"',
  ])
  await using daemon = await startDaemon(space)
  const answer = await fetch(`${daemon.url}/collect/raw/event`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"id": 1}',
  })
  assert.is(answer.status, 202)
})

test('a source whose time of loading is NULL in all rows is not said to have none', async () => {
  const says = async (rows: string) => {
    const typed = logs['eider.yml'].replace('data/log.csv,', 'data/log.csv, columns: {at: DATE},')
    await using space = await workspace({
      ...logs,
      'eider.yml': typed,
      'data/log.csv': `a,at\n${rows}`,
    })
    return (await results(space))['a.log']
  }
  assert.is(
    await says('1,\n2,\n'),
    'the source files.log does not say when it was loaded: "at" is NULL in all 2 rows, warn_after 1 day',
  )
})

test('times without an end and beyond those of a Date are no failure', async () => {
  const data = 'a,at\n1,2024-01-01 00:00:00\n2,infinity\n'
  await using space = await workspace({ ...logs, 'data/log.csv': data })
  const built = await results(space)
  assert.match(built['a.log']!, 'was last loaded at 2024-01-01T00:00:00Z')
  await space.write('data/log.csv', `${data}3,290000-01-01 00:00:00\n`)
  assert.match((await results(space))['a.log']!, 'which is in the future')
})

withExtensions(
  test,
  ['sqlite_scanner'],
  'an SQLite file that is missing, elsewhere or damaged is a mistake of the project',
  async () => {
    await using space = await workspace({
      'models/core/t.sql': 'SELECT * FROM bank.t\n',
      'data/bad.db': 'SQLite format 3\0 and nothing that follows it',
    })
    const answers = {
      'data/none.db':
        'data/none.db does not exist, or cannot be opened\n.*\n.*\n  hint: paths are relative to the directory of eider.yml',
      'sqlite:///data/app.db':
        'sqlite:///data/app.db is a URL\n.*\n.*\n  hint: write the path of the file alone: data/app.db',
      data: 'data is a directory\n.*\n.*\n  hint: name the file of the database',
      'data/bad.db':
        'data/bad.db: file is not a database\n.*\n.*\n  hint: get the file again, whole',
    }
    const env = { EIDER_EXTENSIONS: extensionCache }
    for (const [path, answer] of Object.entries(answers)) {
      await space.write(
        'eider.yml',
        `name: s\nsources:\n  bank:\n    sqlite: ${path}\n    tables: {t: }\n`,
      )
      const refused = new RegExp(
        `^eider.yml:3:3 error invalid-source: the source "bank" cannot be read: ${answer}`,
        'm',
      )
      const { stdout, stderr } = await space.ok(['check'], { exitCode: 1, env })
      assert.match(stdout + stderr, refused)
    }
  },
)

test.run()
