// Each room of src has a page, and what the pages name is there. The walks of ARCHITECTURE.md follow imports.

import { existsSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { architecture, listUnder, pageOf, roomPages } from './support/architecture-pages.ts'
import { filesBelow, importsOf } from './support/source-files.ts'
import { repository } from './support/workspace.ts'

const MAX_BYTES = 12 * 1024
const WALKS = ['An event', 'A model', 'A request']

const sources = new Map(filesBelow('src').map(({ path, text }) => [path, text]))

test('each room has a page that begins with its name and says where to change what', () => {
  for (const room of roomPages()) {
    const page = pageOf(room)
    assert.ok(page.startsWith(`# ${room}\n`), room)
    assert.ok(listUnder('To change', page).length > 0, room)
  }
})

test('paths in the pages of rooms exist, below the room or in the repository', () => {
  const missing = roomPages().flatMap((room) =>
    pathsIn(pageOf(room))
      .filter((path) => !isThere(`src/${room}/${path}`) && !isThere(path))
      .map((path) => `src/${room}/README.md: ${path}`),
  )
  assert.equal(missing, [])
  assert.equal(pathsIn('`a/b.ts`, `c.tsx`, `d/`, `e`, `f()`, `g.md`'), [
    'a/b.ts',
    'c.tsx',
    'd/',
    'g.md',
  ])
})

test('ARCHITECTURE.md can be read in one go', () => {
  assert.ok(
    Buffer.byteLength(architecture) <= MAX_BYTES,
    `${Buffer.byteLength(architecture)} bytes`,
  )
})

test('each step of a walk is a file that an earlier step imports', () => {
  for (const walk of WALKS) {
    const steps = listUnder(walk, architecture).map(({ names }) => `src/${names[0]}`)
    assert.ok(steps.length > 5, walk)
    const reached = new Set([steps[0]])
    for (const step of steps) {
      assert.ok(sources.has(step), step)
      assert.ok(reached.has(step), `${walk}: no earlier step imports ${step}`)
      for (const target of targetsOf(step)) reached.add(target)
    }
  }
})

const targetsOf = (path: string): readonly string[] =>
  importsOf(sources.get(path)!).map((specifier) => posix.join(dirname(path), specifier))

/** What is in backticks and has the end of a file or of a directory. A name in < > stands for several. */
function pathsIn(page: string): readonly string[] {
  const quoted = [...page.matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text)
  return quoted.filter((text) => /^[\w./-]+(\.(tsx?|js|md|json)|\/)$/.test(text))
}

const isThere = (path: string): boolean => existsSync(join(repository, path))

test.run()
