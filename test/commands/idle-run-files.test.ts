// A run after one that found nothing to do does not start the engine. Whatever is touched in between, the run sees it: one
// that has lost its note, and so looks at everything, then finds nothing that was left.

import { readFileSync, statSync, utimesSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import { type Edit, overwrite, runAfterEach } from '../support/idle-project.ts'

const edits: readonly Edit[] = [
  {
    what: 'a model of the same size and time',
    make: (space) => overwrite(space, 'models/mart/named.sql', 'name, rate', 'rate, name'),
    isWork: true,
  },
  {
    what: 'a seed of the same size and time',
    make: (space) => overwrite(space, 'seeds/ref/countries.csv', 'Norway', 'NORWAY'),
    isWork: true,
  },
  {
    what: 'a data file of the same size and time',
    make: (space) => overwrite(space, 'data/rates.csv', 'NO,1', 'NO,3'),
    isWork: true,
  },
  {
    what: 'a data file that takes the place of another',
    async make(space) {
      const path = space.path('data/rates.csv')
      const { atime, mtime } = statSync(path)
      const text = readFileSync(path, 'utf8').replace('SE,2', 'SE,7')
      await writeFile(`${path}.new`, text)
      utimesSync(`${path}.new`, atime, mtime)
      await rename(`${path}.new`, path)
    },
    isWork: true,
  },
  {
    what: 'a macro',
    make: (space) => overwrite(space, 'macros/twice.sql', 'x * 2', 'x * 4'),
    isWork: true,
  },
]

test('a run sees each file that was touched since one that found nothing to do', () =>
  runAfterEach(edits, 7))

test.run()
