// Names that are words of SQL, and names of models that begin like others.

import type { Mistake } from '../mistake.ts'

export const rows: readonly Mistake[] = [
  {
    id: 's13',
    mistake: 'a column named at, and its time zone',
    files: {
      'models/core/a.sql': "SELECT (at AT TIME ZONE 'Europe/Oslo')::DATE AS day FROM raw.orders\n",
    },
    answer: `
      models/core/a.sql:1:12 error sql-syntax: syntax error at or near "AT"
      hint: AT begins a clause of DuckDB; quote the name: "at"`,
    grade: 'A',
  },
  {
    id: 's115',
    mistake: 'a word of SQL as an alias without AS',
    files: { 'models/core/a.sql': 'SELECT order_id dec, 1 AS n FROM raw.orders\n' },
    answer: `
      models/core/a.sql:1:17 error sql-syntax: syntax error at or near "dec"
      hint: "dec" is a word of SQL, which names a column only behind AS: AS dec`,
    grade: 'A',
  },
  {
    id: 's106',
    mistake: 'a query of a model that is not built, whose name begins with that of another',
    files: {
      'models/core/late.sql': 'SELECT 1 AS a\n',
      'models/core/latetype.sql': 'SELECT 1 AS a\n',
      'models/core/z.sql': 'SELECT 1 AS a\n',
    },
    ask: { eider: ['query', 'FROM core.latetype'], after: [['run', 'core.z']] },
    answer: `
      query:1:6 error sql-binding: Table with name latetype does not exist
      hint: core.latetype is not built yet: eider run +core.latetype
      1 error`,
    exitCode: 1,
    grade: 'A',
  },
  {
    id: 's63',
    mistake: 'a variable of .env misspelt',
    files: { 'eider.yml': 'name: t\nvars: {min: 5}\n', '.env': 'EIDER_VAR_MNI=3\n' },
    answer: `
      .env:1:1 warning dotenv-unknown-name: no setting has the variable "EIDER_VAR_MNI"
      hint: did you mean EIDER_VAR_MIN?`,
    grade: 'A',
  },
  {
    id: 's63-environment',
    mistake: 'a variable of the environment misspelt',
    files: { 'eider.yml': 'name: t\nvars: {min: 5}\n' },
    ask: { eider: ['check'], env: { EIDER_VAR_MNI: '3' }, after: [] },
    answer: `
      eider.yml:1:1 warning dotenv-unknown-name: no setting has the variable "EIDER_VAR_MNI"
      hint: did you mean EIDER_VAR_MIN?`,
    among: true,
    exitCode: 0,
    grade: 'A',
  },
  {
    id: 's90-search',
    mistake: 'a quote of $search that is not closed',
    ask: { get: '/core_orders?$search="' },
    answer: `400 $search at the end: a phrase needs two double quotes: write the closing one, as in "red wine", or leave out both`,
    grade: 'A',
  },
  {
    id: 's90-name',
    mistake: 'an aggregate without its name',
    ask: { get: '/core_orders?$apply=aggregate(amount with sum)' },
    answer: `400 $apply at character 26: a name is missing: amount with sum as total`,
    grade: 'A',
  },
]
