// Tests that take long, and run only where a filter names them, such as `node dist/test/run.js lake/`: a run of all
// tests is to stay below twenty minutes on two processors. Files below test/, without `.test.ts`.

import { onBoth } from './on-lakes.ts'

/** On a lake as well in each run of all tests: it takes seconds. */
const ofEachRun = 'pipeline/letter-case'

export const ifAsked: readonly string[] = [
  'lake/bad-days',
  'lake/changes-at-once',
  'lake/encrypted',
  'lake/faults',
  'lake/growth',
  'lake/lost-disks',
  'lake/messages',
  'lake/odd-names',
  'lake/partitions',
  'lake/restored',
  'lake/same-content',
  'lake/upkeep-beside',
  'load/up-soak',
  ...onBoth.filter((path) => path !== ofEachRun).map((path) => `lake/${path}`),
]
