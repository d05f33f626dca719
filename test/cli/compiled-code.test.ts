// On Node 20 the compiled form of the program is kept beside it (bin/compiled-code.js), on later ones by Node itself.
// Alone in its process: it replaces the loader of modules.

import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { appendFile, cp, symlink } from 'node:fs/promises'
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository, type Workspace, workspace } from '../support/workspace.ts'

const isOurs = !('enableCompileCache' in nodeModule)

/** A copy of the program, so that nobody else compiles it. */
async function installed(space: Workspace): Promise<void> {
  for (const part of ['bin', 'dist/bundle', 'docs', 'package.json'])
    await cp(join(repository, part), space.path(part), { recursive: true })
  await symlink(join(repository, 'node_modules'), space.path('node_modules'))
}

function help(space: Workspace, expected: number = 0): string {
  const args = [space.path('bin/run.js'), 'ls', '--help']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.is(status, expected, stderr)
  return stdout
}

const filesOf = (space: Workspace) => {
  const dir = space.path('dist/compiled')
  return existsSync(dir) ? readdirSync(dir).map((name) => join(dir, name)) : []
}

if (isOurs) {
  test('what is compiled once is not compiled again, and damage of it is made good', async () => {
    await using space = await workspace({})
    await installed(space)
    const shown = help(space)
    const files = filesOf(space)
    assert.ok(files.length > 3 && files.every((file) => file.endsWith('.bin')), files.join())
    const times = () => filesOf(space).map((file) => statSync(file).mtimeMs)
    const before = times()
    assert.is(help(space), shown)
    assert.equal(times(), before)
    const whole = files.map((file) => readFileSync(file))
    for (const [i, file] of files.entries()) {
      const damaged = Buffer.from(whole[i]!)
      damaged.fill(0, Math.floor(damaged.length / 2))
      writeFileSync(file, i % 2 === 0 ? damaged : damaged.subarray(0, 20 + i))
    }
    assert.is(help(space), shown)
    assert.equal(filesOf(space), files)
    for (const [i, file] of files.entries())
      assert.ok(statSync(file).size > whole[i]!.length / 2, 'it is written again')
    assert.is(help(space), shown)
  })
}

test('another program of the same length is compiled anew', async () => {
  await using space = await workspace({})
  await installed(space)
  assert.match(help(space), 'List the models')
  const ask = () => {
    const args = [space.path('bin/run.js'), 'nonsense']
    return spawnSync(process.execPath, args, { encoding: 'utf8' }).stderr
  }
  assert.match(ask(), 'there is no command')
  const path = space.path('dist/bundle/command-not-found.cjs')
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replaceAll('there is no command', 'there was a command'))
  assert.match(ask(), 'there was a command')
})

test('a program that cannot be written beside works as well', async () => {
  await using space = await workspace({})
  await installed(space)
  // A file where the directory would be, since root may write everywhere.
  await appendFile(space.path('dist/compiled'), '')
  assert.match(help(space), 'List the models')
  chmodSync(space.path('dist/compiled'), 0o400)
  assert.match(help(space), 'List the models')
})

test.run()
