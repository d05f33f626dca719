// A run after one that found nothing to do does not start the engine where models name their files by patterns, and sees
// whatever such a pattern stands for.

import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import { type Edit, overwrite, runAfterEach, SHOP } from '../support/idle-project.ts'

const FILES = {
  ...SHOP,
  'data/rates.csv': 'country,rate\nNO,1\nSE,2\n',
  'data/2026/10.csv': 'id\n10\n',
  'data/2026/11.csv': 'id\n11\n',
  'models/core/months.sql': "-- @kind: table\n\nSELECT id FROM read_csv('data/*/*.csv')\n",
  'models/core/all.sql': "-- @kind: table\n\nSELECT count(*) AS files FROM glob('data/**/*.csv')\n",
}

const edits: readonly Edit[] = [
  {
    what: 'a file of the same size and time',
    make: (space) => overwrite(space, 'data/2026/10.csv', '10', '12'),
    isWork: true,
  },
  {
    what: 'a file more',
    make: (space) => writeFile(space.path('data/2026/12.csv'), 'id\n12\n'),
    isWork: true,
  },
  {
    what: 'a file less',
    make: (space) => rm(space.path('data/2026/11.csv')),
    isWork: true,
  },
  {
    what: 'a file elsewhere',
    async make(space) {
      await mkdir(space.path('data/2027'))
      await rename(space.path('data/2026/10.csv'), space.path('data/2027/10.csv'))
    },
    isWork: true,
  },
  {
    what: 'a file that no pattern has',
    make: (space) => writeFile(space.path('data/2026/notes.txt'), 'text'),
    isWork: false,
  },
]

test('a run sees whatever patterns stand for after one that found nothing to do', () =>
  runAfterEach(edits, 11, FILES))

test.run()
