// A run after one that found nothing to do does not start the engine. Whatever is touched in between, the run sees it: one
// that has lost its note, and so looks at everything, then finds nothing that was left.

import { test } from 'uvu'
import { type Edit, overwrite, runAfterEach } from '../support/idle-project.ts'

const edits: readonly Edit[] = [
  { what: '.env', make: (space) => space.write('.env', 'EIDER_VAR_LEAST=2\n'), isWork: true },
  { what: 'the environment', make: async () => {}, env: { EIDER_VAR_LEAST: '0' }, isWork: true },
  { what: '--vars', make: async () => {}, args: ['--vars', 'least=3'], isWork: true },
  {
    what: 'a new model',
    make: (space) => space.write('models/mart/late.sql', '-- @kind: table\n\nSELECT 1 AS one\n'),
    isWork: true,
  },
  { what: 'another target', make: async () => {}, args: ['--target', 'other'], isWork: true },
  {
    what: 'a comment in eider.yml',
    make: (space) => overwrite(space, 'eider.yml', 'name: shop', 'name: shop # a shop'),
    isWork: false,
  },
]

test('a run sees what it is asked with other values, models or a target than one that found nothing to do', () =>
  runAfterEach(edits, 7))

test.run()
