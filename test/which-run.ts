// Which tests run when none are named. Paths are below test/, without `.test.ts`.

import { onBoth } from './on-lakes.ts'

/**
 * DuckDB takes it for the number of cores. Small tables are one task each, and a thread that waits for the task of another
 * one asks for it without a pause: a quarter of what a run takes.
 */
export const CORES_VARIABLE = 'SLURM_CPUS_ON_NODE'

/**
 * How a path of `npm run test:system` begins: what needs a browser, a lake, servers or clients of others, walks through the
 * whole program as its users do, with many processes, kills it, or judges it by random or by very many inputs.
 */
const systemTests: readonly string[] = [
  'acceptance/',
  'clients/',
  'commands/killed-mv',
  'commands/odd-configuration',
  'commands/source-files',
  'commands/source-mysql',
  'commands/source-servers',
  'commands/up',
  'compiler/compile-edits',
  'crash/',
  'docs/scale-out',
  'docs/walkthroughs',
  'explorer/browser/',
  'lake/',
  'load/',
  'mcp/hostile',
  'odata/answer/lookup.',
  'odata/answer/random-lookups',
  'odata/answer/smaller-pages',
  'odata/http/http-fuzz',
  'package/dockerfile',
  'shortcuts/',
  'simulation/',
  'buffer/kill',
  'buffer/power-cut',
  'pipeline/build/kinds-property',
  'pipeline/build/random-rules',
  'pipeline/changes/maintained',
  'pipeline/changes/random-histories',
  'pipeline/continued-files',
  'pipeline/crash',
  'pipeline/kill-many',
  'pipeline/plan/plan-is-run',
  'pipeline/published-apart',
  'support/explorer-page',
  'support/lake/',
  'workers/serve',
]

/** On a lake as well in each run of the system tests: it takes seconds. */
const onLakeEachRun = 'pipeline/letter-case'

/** These take so long that they run only where a filter names them, such as `node dist/test/run.js lake/`. */
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
  'lake/past-changes',
  'lake/random-erase-kills',
  'lake/random-kills',
  'lake/restored',
  'lake/same-content',
  'lake/upkeep-beside',
  'load/up-soak',
  ...onBoth.filter((path) => path !== onLakeEachRun).map((path) => `lake/${path}`),
]

/** Begun first: a processor has nothing to do while the last file of a run is a long one. */
const takeLong: readonly string[] = [
  'acceptance/damaged-events',
  'acceptance/first-fortnight',
  'acceptance/first-weeks',
  'acceptance/watch',
  'acceptance/what-stands-there',
  'commands/erase',
  'commands/restore',
  'commands/source-files',
  'commands/source-mysql',
  'commands/up',
  'docs/scale-out',
  'docs/walkthroughs',
  'odata/answer/lookup',
  'odata/answer/smaller-pages',
  'pipeline/changes/late-rows',
  'pipeline/continued-files',
  'pipeline/plan/plan-is-run',
  'pipeline/published-apart',
  'supervisor/service',
  'workers/serve',
]

/** About the program as a process: a command that they run is one, and its engine has the cores of the machine. */
const outsideTests: readonly string[] = [
  'acceptance/',
  'cli/',
  'clients/',
  'load/',
  'package',
  'shortcuts/',
]

/**
 * Of those, stories whose point is what commands say and do and not how one is started. Daemons and services are processes
 * in them, too.
 */
const stories: readonly string[] = [
  'acceptance/damaged-events',
  'acceptance/first-fortnight',
  'acceptance/first-weeks',
  'acceptance/future-rows',
  'acceptance/vanished-groups',
]

export const isSystemTest = (path: string): boolean => begins(path, systemTests)

export const takesLong = (path: string): boolean => begins(path, takeLong)

export const startsProcesses = (path: string): boolean =>
  begins(path, outsideTests) && !begins(path, stories)

const begins = (path: string, starts: readonly string[]): boolean =>
  starts.some((start) => path.startsWith(start))
