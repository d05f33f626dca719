// `eider mv` that is killed: after the next run the model has its file, its table and its history under one of the names.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstat, mkdir, readFile, rename, symlink } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eiderProcess, type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: s\n',
  'models/a/source.sql': 'SELECT 1 AS id\n',
  'models/a/kept.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT * FROM a.source\n',
}

/** Its table has a row that its source no longer gives. */
async function withHistory(): Promise<Workspace> {
  const space = await workspace(files)
  await space.ok(['run'])
  await space.write('models/a/source.sql', 'SELECT 2 AS id\n')
  await space.ok(['run'])
  return space
}

const isThere = (space: Workspace, path: string) =>
  lstat(space.path(path)).then(
    () => true,
    () => false,
  )

/** Under the one name or the other, and nothing else is left. */
async function wholeUnder(space: Workspace): Promise<string> {
  const run = await space.ok(['run', '--verbose'])
  assert.not.match(run.stdout, 'orphan')
  const isOld = await isThere(space, 'models/a/kept.sql')
  assert.is(await isThere(space, 'models/core/moved.sql'), !isOld)
  assert.not.ok(await isThere(space, '.eider/move.json'))
  const name = isOld ? 'a.kept' : 'core.moved'
  assert.match(run.stdout, new RegExp(`unchanged +${name}`))
  const served = await space.ok(['odata', 'preview', `${name.replace('.', '_')}/$count`])
  assert.is(served.stdout.trim(), '2')
  return name
}

test('killed between its file and its table, a move is finished by the next run', async () => {
  await using space = await withHistory()
  const move = {
    from: 'a.kept',
    to: 'core.moved',
    file: { from: 'models/a/kept.sql', to: 'models/core/moved.sql' },
    replace: false,
  }
  await space.write('.eider/move.json', JSON.stringify(move))
  assert.is(await wholeUnder(space), 'a.kept')
  await space.write('.eider/move.json', JSON.stringify(move))
  await mkdir(space.path('models/core'))
  await rename(space.path(move.file.from), space.path(move.file.to))
  assert.is(await wholeUnder(space), 'core.moved')
})

test('killed at any moment, a move has happened or not', async () => {
  await using space = await withHistory()
  const seen = new Set<string>()
  const startedMs = performance.now()
  await space.ok(['mv', 'a.kept', 'core.moved'])
  const tookMs = performance.now() - startedMs
  seen.add(await wholeUnder(space))
  for (let i = 0; i < 6; i++) {
    const isMoved = await isThere(space, 'models/core/moved.sql')
    const [from, to] = isMoved ? ['core.moved', 'a.kept'] : ['a.kept', 'core.moved']
    const { command, args, env } = eiderProcess(['mv', from, to])
    const child = spawn(command, args, { cwd: space.dir, env, stdio: 'ignore' })
    const timer = setTimeout(() => child.kill('SIGKILL'), tookMs * (0.4 + i * 0.1))
    await once(child, 'close')
    clearTimeout(timer)
    seen.add(await wholeUnder(space))
  }
  assert.ok(seen.has('core.moved'))
})

test('a move takes a model file that is a link', async () => {
  await using space = await workspace(files)
  await space.write('shared/kept.sql', files['models/a/kept.sql'])
  await space.write('models/b/other.sql', 'SELECT 1 AS x\n')
  await symlink('../../shared/kept.sql', space.path('models/b/linked.sql'))
  await space.ok(['run'])
  await space.ok(['mv', 'b.linked', 'core.deep'])
  const link = space.path('models/core/deep.sql')
  assert.ok((await lstat(link)).isSymbolicLink())
  assert.is(await readFile(link, 'utf8'), files['models/a/kept.sql'])
  assert.not.ok(await isThere(space, 'models/b/linked.sql'))
  assert.match((await space.ok(['run', '--verbose'])).stdout, /unchanged +core\.deep/)
})

test.run()
