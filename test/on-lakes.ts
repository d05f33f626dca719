// One list of the cases of the pipeline, golden projects and crashes that run on both kinds of target: on a file, and
// once more, by the same code, on tables in a lake. `node dist/test/run.js lake/pipeline`
// runs those of the pipeline on a lake alone.

/** Files below test/, without `.test.ts`. */
export const onBoth: readonly string[] = [
  'commands/plan-golden',
  'odata/answer/csdl-golden',
  'pipeline/build/append',
  'pipeline/build/build',
  'pipeline/build/kinds-property',
  'pipeline/build/merge',
  'pipeline/build/new-fields',
  'pipeline/build/period',
  'pipeline/build/pieces',
  'pipeline/build/renames',
  'pipeline/build/rules',
  'pipeline/build/run-checks',
  'pipeline/build/scd2',
  'pipeline/build/scd2-settings',
  'pipeline/build/slices',
  'pipeline/changes/deleted-events',
  'pipeline/changes/forgotten-values',
  'pipeline/changes/late-rows',
  'pipeline/choose',
  'pipeline/crash',
  'pipeline/flush/renamed-columns',
  'pipeline/history',
  'pipeline/kill-many',
  'pipeline/letter-case',
  'pipeline/stopped-sets',
]
