// What a pattern stands for has another stamp as soon as any of it differs.

import { mkdir, rename, symlink, unlink, writeFile } from 'node:fs/promises'
import { statSync, utimesSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { stampOf } from '../../src/files/stamps.ts'
import { stampOfName } from '../../src/files/stamps.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const FILES = {
  'data/a.csv': 'id\n1\n',
  'data/b.csv': 'id\n2\n',
  'data/x1/c.csv': 'id\n3\n',
  'data/x2/c.csv': 'id\n4\n',
  'data/x2/deep/[c].csv': 'id\n5\n',
  'data/readme.txt': 'text',
}
const PATTERNS = ['data/*.csv', 'data/x*/c.csv', 'data/**/*.csv', 'data/x2', 'data/?.[cC]sv']

const write = (path: string, text: string) => (space: Workspace) =>
  writeFile(space.path(path), text)

const edits: Readonly<
  Record<string, { make: (space: Workspace) => Promise<unknown>; seenBy: readonly string[] }>
> = {
  'a file more': {
    make: write('data/new.csv', 'id\n6\n'),
    seenBy: ['data/*.csv', 'data/**/*.csv', 'data/?.[cC]sv'],
  },
  'a file more in a directory': {
    make: write('data/x2/deep/d.csv', 'id\n6\n'),
    seenBy: ['data/**/*.csv', 'data/x2'],
  },
  'a directory more with such a file': {
    async make(space) {
      await mkdir(space.path('data/x3'))
      await writeFile(space.path('data/x3/c.csv'), 'id\n7\n')
    },
    seenBy: ['data/x*/c.csv', 'data/**/*.csv'],
  },
  'a file less': {
    make: (space) => unlink(space.path('data/x2/c.csv')),
    seenBy: ['data/x*/c.csv', 'data/**/*.csv', 'data/x2'],
  },
  'a file with another name': {
    make: (space) => rename(space.path('data/a.csv'), space.path('data/z.csv')),
    seenBy: ['data/*.csv', 'data/**/*.csv', 'data/?.[cC]sv'],
  },
  'other content of the same size and time': {
    async make(space) {
      const path = space.path('data/a.csv')
      const { atime, mtime } = statSync(path)
      await writeFile(path, 'id\n9\n')
      utimesSync(path, atime, mtime)
    },
    seenBy: ['data/*.csv', 'data/**/*.csv', 'data/?.[cC]sv'],
  },
  'a file that no pattern has': { make: write('data/notes.txt', 'more'), seenBy: [] },
}

const stampsOf = ({ dir }: Workspace) =>
  new Map(PATTERNS.map((pattern) => [pattern, stampOfName(dir, pattern)?.text]))

for (const [what, { make, seenBy }] of Object.entries(edits))
  test(`patterns see ${what}`, async () => {
    await using space = await workspace(FILES)
    const before = stampsOf(space)
    assert.not.ok([...before.values()].includes(undefined))
    assert.equal(stampsOf(space), before)
    await make(space)
    const after = stampsOf(space)
    const seen = PATTERNS.filter((pattern) => after.get(pattern) !== before.get(pattern))
    assert.equal(seen.toSorted(), seenBy.toSorted())
  })

test('the stamp of a plain name is that of the file', async () => {
  await using space = await workspace(FILES)
  assert.equal(stampOfName(space.dir, 'data/a.csv'), stampOf(space.path('data/a.csv')))
  assert.is(stampOfName(space.dir, 'data/none.csv'), null)
  const absolute = stampOfName('/', space.path('data/*.csv'))
  assert.equal(absolute, stampOfName(space.dir, space.path('data/*.csv')))
  assert.ok(absolute)
})

test('there is no stamp where nobody can tell', async () => {
  await using space = await workspace(FILES)
  for (const name of ['https://example.org/*.csv', '~/*.csv', 'file:data/*.csv'])
    assert.is(stampOfName(space.dir, name), null, name)
  await mkdir(space.path('data/folder.csv'))
  assert.is(stampOfName(space.dir, 'data/*.csv'), null, 'a directory with the name of a file')
  await symlink(space.path('data'), space.path('data/x1/round'))
  assert.is(stampOfName(space.dir, 'data/x1/**/*.csv'), null, 'a link to a directory')
})

test.run()
