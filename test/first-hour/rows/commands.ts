import type { Mistake } from '../mistake.ts'

const run = ['run']

export const rows: readonly Mistake[] = [
  {
    id: 'h-run',
    mistake: 'a misspelt command',
    ask: { eider: ['rnu'] },
    answer: `
      error: there is no command "rnu"
      hint: did you mean "eider run"?`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'h-run-flag',
    mistake: 'a misspelt flag',
    ask: { eider: ['run', '--full-refrsh'] },
    answer: `
      error: eider run has no flag --full-refrsh
      hint: did you mean "--full-refresh"?`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'h-arg',
    mistake: 'a missing argument',
    ask: { eider: ['show'] },
    answer: `
      error: eider show needs MODEL (name of a model)
      hint: see "eider show --help"`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'h-arg-more',
    mistake: 'one argument too many',
    ask: { eider: ['show', 'core.orders', 'x'] },
    answer: `
      error: eider show takes no more arguments "x"
      hint: put an argument with spaces in quotes; see "eider show --help"`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'h-arg-value',
    mistake: 'a bad value of a flag',
    ask: { eider: ['run', '--threads', 'many'] },
    answer: `
      error: --threads must be an integer, not "many"
      hint: see "eider run --help"`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'e13',
    mistake: '--start of a wrong type',
    files: {
      'models/mart/two.sql':
        '-- @kind: append\n-- @incremental: changed_at\nSELECT order_id, changed_at FROM core.orders',
    },
    ask: { eider: ['run', '--start', 'yesterday', '--end', '2026-01-01'] },
    answer: `
      error: --start yesterday is not a valid value for "changed_at" (TIMESTAMP WITH TIME ZONE), the @incremental of mart.two
      hint: write a time such as 2024-05-01 or 2024-05-01T12:00:00Z`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'e13-end',
    mistake: '--start after --end',
    files: {
      'models/mart/two.sql':
        '-- @kind: append\n-- @incremental: changed_at\nSELECT order_id, changed_at FROM core.orders',
    },
    ask: { eider: ['run', '--start', '2026-02-01', '--end', '2026-01-01'] },
    answer: `
      error: --end 2026-01-01 is not after --start 2026-02-01, so there is no range to replace
      hint: rows from --start on are replaced, up to --end without it`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'e13-alone',
    mistake: '--end without --start',
    ask: { eider: ['run', '--end', '2026-01-01'] },
    answer: `
      error: --end requires --start
      hint: see "eider run --help"`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'e14',
    mistake: '--retry with nothing to do',
    ask: { eider: ['run', '--retry'], after: [run] },
    answer: `
      nothing to retry: the last run that ended left no model failed or skipped
      no models in <time>`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'h-h',
    mistake: '-h',
    ask: { eider: ['run', '-h'] },
    answer: `USAGE`,
    among: true,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'h-h-help',
    mistake: 'help',
    ask: { eider: ['help', 'run'] },
    answer: `USAGE`,
    among: true,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'h-dbt',
    mistake: 'build of dbt',
    ask: { eider: ['build'] },
    answer: `
      error: there is no command "build"
      hint: "eider run" builds models and seeds and runs their checks`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'h-dbt-compile',
    mistake: 'compile of dbt',
    ask: { eider: ['compile'] },
    answer: `
      error: there is no command "compile"
      hint: "eider check" compiles the project; "eider show MODEL" prints its SQL`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'h-dbt-seed',
    mistake: 'seed of dbt',
    ask: { eider: ['seed'] },
    answer: `
      error: there is no command "seed"
      hint: "eider run" loads the seeds as well`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'h-dbt-list',
    mistake: 'list of dbt',
    ask: { eider: ['list'] },
    answer: `
      error: there is no command "list"
      hint: "eider ls" lists the models`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'h-dbt-clean',
    mistake: 'clean of dbt',
    ask: { eider: ['clean'] },
    answer: `
      error: there is no command "clean"
      hint: "eider drop MODEL" removes what no file defines any more; .eider/ holds everything else`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'h-dbt-freshness',
    mistake: 'source freshness of dbt',
    ask: { eider: ['source', 'freshness'] },
    answer: `
      error: there is no command "source freshness"
      hint: "eider plan" shows how old the sources are, and a run checks it`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'dbt-12-debug',
    mistake: 'debug of dbt',
    ask: { eider: ['debug'] },
    answer: `
      error: there is no command "debug"
      hint: "eider doctor" checks the machine and the project`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'd09a',
    mistake: 'init in a project',
    ask: { eider: ['init'] },
    answer: `error: <project> already contains a project: it has an eider.yml`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'd09b',
    mistake: 'init where nothing may be written',
    ask: { eider: ['init', 'here/demo'], after: [{ 'here/a': '' }], writeProtected: ['here'] },
    answer: `
      error: the project cannot be written: here cannot be written by user <user>
      hint: chmod u+rwX here; "eider doctor" lists such files`,
    exitCode: 3,
    grade: 'A',
  },
  {
    id: 'h01',
    mistake: 'init in a clone with a README',
    files: {
      'eider.yml': null,
      'README.md': '# shop\n',
      '.gitignore': 'dist\n',
      'models/raw/orders.sql': null,
      'models/staging/orders.sql': null,
      'models/core/orders.sql': null,
      'models/mart/country_sales.sql': null,
      'seeds/ref/countries.csv': null,
    },
    ask: { eider: ['init'] },
    answer: `
      created the project here: 7 files
      kept README.md as it was
      added to .gitignore: .eider/, target/, .env
      eider collect daemon & takes events on http://127.0.0.1:8080
      curl --retry 5 --retry-connrefused -H 'Content-Type: application/x-ndjson' --data-binary @events.ndjson http://127.0.0.1:8080/collect/raw/orders/batch
      eider run builds 5 models
      eider serve http://127.0.0.1:8090/odata, also for Excel`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'b17',
    mistake: 'an unknown target',
    ask: { eider: ['run', '--target', 'prod'] },
    answer: `
      error: eider.yml has no target "prod"
      hint: add one under "targets"`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'b15',
    mistake: 'a directory that is not there',
    ask: { eider: ['run', '--project', 'elsewhere'] },
    answer: `
      error: there is no directory <project>/elsewhere
      hint: start a project with "eider init NAME"`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'b16',
    mistake: '--project names a folder of the project',
    files: { 'notes/a.txt': '' },
    ask: { eider: ['ls', '--project', 'notes'] },
    answer: `
      error: there is no eider.yml in <project>/notes
      hint: write --project <project>`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'b20',
    mistake: '--vars of a variable that is not declared',
    ask: { eider: ['run', '--vars', 'sinze=2'] },
    answer: `
      error: eider.yml declares no variable "sinze"
      hint: add it: vars: {sinze: …}`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'b21',
    mistake: '--vars of the wrong type',
    files: { 'eider.yml': 'name: shop\nvars:\n  since: 2026-01-01\n' },
    ask: { eider: ['run', '--vars', 'since=soon'] },
    answer: `error: --vars since must be a date, not "soon"`,
    exitCode: 2,
    grade: 'A',
  },
]
