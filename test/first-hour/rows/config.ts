// eider.yml, .env and sources.

import type { Mistake } from '../mistake.ts'

const yml = (text: string) => ({ 'eider.yml': text })

export const rows: readonly Mistake[] = [
  {
    id: 'b01',
    mistake: 'a tab',
    files: yml('name: shop\ncollect:\n\tport: 8080\n'),
    answer: `
      eider.yml:3:1 error config-syntax: this is not valid YAML: a tab indents this line
      hint: YAML is indented with spaces`,
    grade: 'A',
  },
  {
    id: 'b02',
    mistake: 'a misspelt key',
    files: yml('name: shop\ncolect:\n  port: 8080\n'),
    answer: `
      eider.yml:2:1 error config-unknown-key: no setting "colect"
      hint: did you mean "collect"?`,
    grade: 'A',
  },
  {
    id: 'b03',
    mistake: 'no blank after the colon',
    files: yml('name: shop\ncollect:\n  port:18080\n'),
    answer: `
      eider.yml:3:3 error config-invalid-value: "collect" must be a group of settings
      hint: a space is missing after the colon: port: 18080`,
    grade: 'A',
  },
  {
    id: 'b05',
    mistake: 'a number in quotes',
    files: yml('name: shop\ncollect:\n  port: "18080"\n'),
    answer: `
      eider.yml:3:9 error config-invalid-value: "collect.port" must be an integer from 0 to 65535
      hint: leave the quotes out: 18080`,
    grade: 'A',
  },
  {
    id: 'b07',
    mistake: 'an empty file',
    files: yml(''),
    answer: `
      eider.yml:1:1 error config-missing-key: "name" is missing
      hint: add a line such as name: shop`,
    grade: 'A',
  },
  {
    id: 'b08',
    mistake: 'a list',
    files: yml('- name: shop\n'),
    answer: `
      eider.yml:1:1 error config-syntax: this is not valid YAML: expected settings, one "key: value" per line
      hint: such as name: shop`,
    grade: 'A',
  },
  {
    id: 'b09',
    mistake: 'a name twice',
    files: yml('name: shop\nthreads: 2\nname: other\n'),
    answer: `
      eider.yml:3:1 error config-syntax: this is not valid YAML: "name" is set twice, first in line 1
      hint: delete one of the two`,
    grade: 'A',
  },
  {
    id: 'b13',
    mistake: 'an open quote',
    files: yml("name: 'shop\ncollect:\n  port: 8080\n"),
    answer: `
      eider.yml:1:7 error config-syntax: this is not valid YAML: this quote is never closed
      hint: add ' at the end of the value`,
    grade: 'A',
  },
  {
    id: 'b13-conflict',
    mistake: 'conflict markers',
    files: yml('name: shop\n<<<<<<< HEAD\nthreads: 1\n=======\nthreads: 2\n>>>>>>> other\n'),
    answer: `
      eider.yml:2:1 error merge-conflict: an unresolved merge conflict
      hint: keep one side and delete the lines <<<<<<<, ======= and >>>>>>>`,
    grade: 'A',
  },
  {
    id: 'b14',
    mistake: 'eider.yaml',
    files: { 'eider.yml': null, 'eider.yaml': 'name: shop\n' },
    answer: `
      error: there is no eider.yml in <project>
      hint: eider reads eider.yml: mv eider.yaml eider.yml`,
    grade: 'A',
  },
  {
    id: 'b15c',
    mistake: '--project names a file',
    ask: { eider: ['ls', '--project', 'eider.yml'] },
    answer: `
      error: <project>/eider.yml is a file
      hint: --project takes the directory that holds eider.yml`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'b26',
    mistake: 'a directory of the warehouse that cannot be made',
    files: yml('name: shop\ndatabase: eider.yml/warehouse.duckdb\n'),
    ask: { eider: ['run'] },
    answer: `
      error: the directory of the warehouse, <project>/eider.yml, cannot be created: eider.yml is a file and must be a directory
      hint: move it away`,
    exitCode: 3,
    grade: 'A',
  },
  {
    id: 'b10',
    mistake: 'a number for a text',
    files: yml('name: 7\n'),
    answer: `
      eider.yml:1:7 error config-invalid-value: "name" must be a non-empty string (in quotes if it looks like a number)
      hint: put it in quotes: '7'`,
    grade: 'A',
  },
  {
    id: 'b23',
    mistake: '.env without an equals sign',
    files: { '.env': 'COLLECT_PORT 8080\n' },
    answer: `
      .env:1:1 error dotenv-syntax: expected NAME=value
      hint: write COLLECT_PORT=value`,
    grade: 'A',
  },
  {
    id: 'd05',
    mistake: '.eider is a file',
    files: { '.eider': '' },
    ask: { eider: ['run'] },
    answer: `
      error: .eider is a file and must be a directory
      hint: move it away`,
    exitCode: 3,
    grade: 'A',
  },
  {
    id: 'd12a',
    mistake: 'the database of a source is missing',
    files: yml(
      'name: shop\nsources:\n  crm:\n    database: crm.duckdb\n    tables:\n      customers:\n',
    ),
    answer: `
      eider.yml:3:3 error invalid-source: the source "crm" cannot be read: Cannot open database "crm.duckdb" in read-only mode: database does not exist
      hint: paths are relative to the directory of eider.yml`,
    grade: 'A',
  },
  {
    id: 'd12c',
    mistake: 'tabels for tables',
    files: yml(
      'name: shop\nsources:\n  crm:\n    tabels:\n      customers: { file: seeds/ref/countries.csv }\n',
    ),
    answer: `
      eider.yml:4:5 error config-invalid-value: "sources.crm" must be a group of database, sqlite, postgres, mysql, schema, timeout, secret, tables
      hint: did you mean "tables"?`,
    grade: 'A',
  },
  {
    id: 'd12d',
    mistake: 'a source named like a schema of models',
    files: yml(
      'name: shop\nsources:\n  core:\n    tables:\n      c: { file: seeds/ref/countries.csv }\n',
    ),
    answer: `
      eider.yml:3:3 error invalid-source: the source "core" cannot be read: models have a schema of that name
      hint: rename the source or the models folder`,
    grade: 'A',
  },
  {
    id: 'b04',
    mistake: 'a word for a port',
    files: yml('name: shop\ncollect:\n  port: abc\n'),
    answer: `eider.yml:3:9 error config-invalid-value: "collect.port" must be an integer from 0 to 65535`,
    grade: 'A',
  },
  {
    id: 'b06',
    mistake: 'a port that is too high',
    files: yml('name: shop\ncollect:\n  port: 99999\n'),
    answer: `eider.yml:3:9 error config-invalid-value: "collect.port" must be an integer from 0 to 65535`,
    grade: 'A',
  },
  {
    id: 'b11',
    mistake: 'gigabytes in full',
    files: yml('name: shop\nmemory_limit: 4 gigabytes\n'),
    answer: `eider.yml:2:15 error config-invalid-value: "memory_limit" must be a size such as 4GB or 512MiB`,
    grade: 'A',
  },
  {
    id: 'b18',
    mistake: 'a variable that is a map',
    files: yml('name: shop\nvars:\n  since: { a: 1 }\n'),
    answer: `eider.yml:3:10 error config-invalid-value: "vars.since" must be a string, a number, true or false, a date, or a list of these`,
    grade: 'A',
  },
  {
    id: 'b19',
    mistake: 'a variable that is not declared',
    files: { 'models/mart/two.sql': 'SELECT * FROM core.orders WHERE changed_at > ${since}' },
    answer: `
      models/mart/two.sql:1:48 error unknown-variable: no variable "since"
      hint: declare it in eider.yml: vars: {since: …}`,
    grade: 'A',
  },
  {
    id: 'b22',
    mistake: 'a variable in quotes',
    files: {
      ...yml('name: shop\nvars:\n  since: 2026-01-01\n'),
      'models/mart/two.sql': "SELECT * FROM core.orders WHERE changed_at > '${since}'",
    },
    answer: `
      models/mart/two.sql:1:47 warning quoted-variable: \${since} is in quotes, so it is text and not the variable
      hint: leave the quotes out`,
    grade: 'A',
  },
  {
    id: 'b24',
    mistake: 'a misspelt name in .env',
    files: { '.env': 'COLECT_PORT=8080\n' },
    answer: `
      .env:1:1 warning dotenv-unknown-name: no setting has the variable "COLECT_PORT"
      hint: did you mean COLLECT_PORT?`,
    grade: 'A',
  },
  {
    id: 'b25',
    mistake: 'a word for a port in the environment',
    ask: { eider: ['ls'], env: { COLLECT_PORT: 'abc' } },
    answer: `error: the variable COLLECT_PORT must be an integer from 0 to 65535, not "abc"`,
    exitCode: 2,
    grade: 'A',
  },
  {
    id: 'd12e',
    mistake: 'an age of a source in fortnights',
    files: yml(
      'name: shop\nsources:\n  crm:\n    tables:\n      c: { file: seeds/ref/countries.csv, loaded_at: name, warn_after: 1 fortnight }\n',
    ),
    answer: `eider.yml:5:72 error config-invalid-value: "sources.crm.tables.c.warn_after" must be a time such as 12 hours or 2 days`,
    grade: 'A',
  },
  {
    id: 'dw1',
    mistake: 'a source that is no database',
    files: {
      ...yml('name: shop\nsources:\n  crm:\n    database: crm.duckdb\n    tables:\n      c:\n'),
      'crm.duckdb': 'this is no database',
    },
    answer: `
      eider.yml:3:3 error invalid-source: the source "crm" cannot be read: it is not a DuckDB database
      hint: a data file goes under tables, as file: data/x.csv`,
    grade: 'A',
  },
  {
    id: 'c02d',
    mistake: 'another host without a token',
    ask: { eider: ['collect', 'daemon', '--host', '0.0.0.0', '--port', '0'] },
    answer: `
      error: 0.0.0.0 can be reached from other machines and no token is set
      hint: set a token (--token), or pass --allow-anonymous to accept requests from anybody`,
    exitCode: 3,
    grade: 'A',
  },
  {
    id: 'c02d-serve',
    mistake: 'another host of the service without a token',
    ask: { eider: ['serve', '--host', '0.0.0.0', '--port', '0'] },
    answer: `
      error: 0.0.0.0 can be reached from other machines and no token is set
      hint: set a token (--token), or pass --allow-anonymous to accept requests from anybody`,
    exitCode: 3,
    grade: 'A',
  },
  {
    id: 'c02e',
    mistake: 'an address of another machine',
    ask: {
      eider: ['collect', 'daemon', '--host', '10.99.99.99', '--port', '0'],
      env: { COLLECT_TOKEN: 'a'.repeat(40) },
    },
    answer: `
      error: 10.99.99.99 is not an address of this machine
      hint: listen on 127.0.0.1, or on 0.0.0.0 for all addresses of this machine`,
    exitCode: 3,
    grade: 'A',
  },
  {
    id: 'c02f',
    mistake: 'one port twice',
    ask: { eider: ['collect', 'daemon', '--port', '18080', '--admin-port', '18080'] },
    answer: `
      error: collect.port and collect.admin_port are both 18080
      hint: the public port and the flush API need different ports`,
    exitCode: 2,
    grade: 'A',
  },
]
