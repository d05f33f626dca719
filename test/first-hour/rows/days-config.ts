// eider.yml, sources in databases and the machine, in the first days.

import type { Changes, Mistake } from '../mistake.ts'

const config = (text: string): Changes => ({ 'eider.yml': `name: shop\n${text}` })
const check = { eider: ['check'] }

export const rows: readonly Mistake[] = [
  {
    id: 'd18',
    mistake: 'runs: without a value',
    files: config('schedule:\n  runs:\n'),
    ask: check,
    answer: `
      eider.yml:3:3 error config-invalid-value: "schedule.runs" must be a list of runs, each with every or cron, 100 at most
      hint: such as runs: [{name: nightly, cron: "0 3 * * *"}]
      failed: 0 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd18-schedule',
    mistake: 'schedule: without a value',
    files: config('schedule:\n'),
    ask: check,
    answer: `
      ok: 5 models, 0 errors, 0 warnings`,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 'd19',
    mistake: 'a line that is indented by one blank less',
    files: config(
      'sources:\n  f:\n    tables:\n      t:\n        file: data/t.csv\n       warn_after: 1 day\n',
    ),
    ask: check,
    answer: `
      eider.yml:7:8 error config-syntax: this is not valid YAML: this line is indented by 7 spaces, and the one above it by 8
      hint: indent keys of one group alike, and those below a key by two spaces more
      failed: 0 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd25',
    mistake: 'a variable of the environment that is not set',
    files: {
      ...config('sources:\n  app:\n    postgres: ${DATABASE_URL}\n    tables:\n      orders:\n'),
      'models/core/t.sql': 'SELECT * FROM app.orders\n',
    },
    ask: { eider: ['run', 'core.t'] },
    answer: `
      eider.yml:4:15 error secret-not-set: "sources.app" needs DATABASE_URL, which is not set
      hint: set DATABASE_URL in the environment or in .env
      failed core.t eider.yml:4:15: "sources.app" needs DATABASE_URL, which is not set
      1 failed, published <id> in <time> eider run --retry`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd24-password',
    mistake: 'a password in the URL of a source',
    files: config(
      'sources:\n  app:\n    postgres: postgres://me:secret@db.example/shop\n    tables:\n      orders:\n',
    ),
    ask: check,
    answer: `
      eider.yml:4:15 error config-invalid-value: "sources.app.postgres" must be a URL without a password, such as postgres://reader@db.example/shop
      hint: its password is taken from SOURCE_APP_PASSWORD
      failed: 0 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd23',
    mistake: 'a misspelt table of a source',
    files: {
      ...config('sources:\n  f:\n    tables:\n      orders:\n        file: data/t.csv\n'),
      'data/t.csv': 'id\n1\n',
      'models/core/t.sql': 'SELECT * FROM f.orderz\n',
    },
    ask: check,
    answer: `
      models/core/t.sql:1:15 error unknown-model: no model "f.orderz"
      hint: did you mean "f.orders"?
      failed: 6 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd38',
    mistake: 'no home directory',
    ask: { eider: ['run', 'ref.countries'], env: { HOME: '/nowhere' } },
    answer: `
      built ref.countries 5 rows, <time> (first build)
      1 built, published <id> in <time>`,
    grade: 'A',
  },
  {
    id: 'd36',
    mistake: 'the environment of cron',
    ask: { eider: ['run', 'ref.countries'], env: { PATH: '/bin', HOME: '', LANG: '', TZ: '' } },
    answer: `
      built ref.countries 5 rows, <time> (first build)
      1 built, published <id> in <time>`,
    grade: 'A',
  },
  {
    id: 'd37',
    mistake: 'a command where no project is',
    ask: { eider: ['run', '--project', '/'] },
    answer: `
      error: there is no eider.yml in /
      hint: start a project with "eider init NAME"`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'd61',
    mistake: 'cron of six fields',
    files: config("schedule:\n  runs:\n    - cron: '0 0 3 * * *'\n"),
    ask: check,
    answer: `
      eider.yml:4:13 error config-invalid-value: "schedule.runs.1.cron" must be a cron line of five fields that occurs, such as '0 3 * * *'
      hint: minute, hour, day, month and weekday; this has 6
      failed: 0 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd61-reboot',
    mistake: '@reboot of cron',
    files: config("schedule:\n  runs:\n    - cron: '@reboot'\n"),
    ask: check,
    answer: `
      eider.yml:4:13 error config-invalid-value: "schedule.runs.1.cron" must be a cron line of five fields that occurs, such as '0 3 * * *'
      hint: write "eider run && eider up" to run at the start
      failed: 0 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd63',
    mistake: 'a misspelt time zone',
    files: config('schedule:\n  timezone: Europe/Osl\n'),
    ask: check,
    answer: `
      eider.yml:3:13 error config-invalid-value: "schedule.timezone" must be a time zone such as Europe/Oslo
      hint: did you mean "Europe/Oslo"?
      failed: 0 models, 1 error, 0 warnings`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 'd67',
    mistake: 'blanks round the = of .env',
    files: { '.env': 'COLLECT_PORT = eight\n' },
    ask: check,
    answer: `
      error: COLLECT_PORT in .env must be an integer from 0 to 65535, not "eight"`,
    grade: 'A',
  },
  {
    id: 'd40',
    mistake: 'a query of a warehouse that another user may not read',
    ask: {
      eider: ['query', 'SELECT count(*) AS n FROM core.orders'],
      after: [['run']],
      unreadable: ['.eider/warehouse.duckdb', '.eider/snapshots'],
    },
    answer: `
      error: .eider/warehouse.duckdb cannot be read by user <user>
      hint: chmod u+rwX .eider/warehouse.duckdb; "eider doctor" lists such files`,
    exitCode: 3,
    grade: 'A',
  },
]
