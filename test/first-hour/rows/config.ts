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
      eider.yml:1:1 error config-syntax: this is not valid YAML: expected settings, one "key: value" a line
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
      eider.yml:4:5 error config-invalid-value: "sources.crm" must be a group of database, schema, tables
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
]
