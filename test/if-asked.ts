// Tests that take minutes, and run only where a filter names them, such as `node dist/test/run.js lake/`: a run of all
// tests is to stay below twenty minutes on two processors. Files below test/, without `.test.ts`.

export const ifAsked: readonly string[] = [
  'lake/changes-at-once',
  'lake/faults',
  'lake/growth',
  'lake/partitions',
  'lake/pipeline/build/append',
  'lake/pipeline/build/build',
  'lake/pipeline/build/merge',
  'lake/pipeline/build/run-checks',
  'lake/pipeline/build/scd2',
  'lake/pipeline/choose',
  'lake/same-content',
  'lake/upkeep-beside',
  'load/up-soak',
]
