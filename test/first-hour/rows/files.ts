// Files of a project that are not as eider expects them.

import { two } from '../line.ts'
import type { Mistake } from '../mistake.ts'

const select = 'SELECT order_id, country_id FROM core.orders'

export const rows: readonly Mistake[] = [
  {
    id: 'a13',
    mistake: 'two files that differ in letter case',
    files: { 'models/mart/two.sql': select, 'models/mart/Two.sql': select },
    answer: `
      models/mart/two.sql:1:1 error duplicate-model: models/mart/Two.sql already defines model "mart.two"
      hint: rename or delete one of the two`,
    grade: 'A',
  },
  {
    id: 'a14',
    mistake: 'a seed and a model of one name',
    files: { 'models/ref/countries.sql': select, 'models/mart/country_sales.sql': null },
    answer: `
      seeds/ref/countries.csv:1:1 error duplicate-model: models/ref/countries.sql already defines model "ref.countries"
      hint: rename or delete one of the two`,
    grade: 'A',
  },
  {
    id: 'a37',
    mistake: 'a schema that is taken',
    files: { 'models/temp/two.sql': select },
    answer: `
      models/temp/two.sql:1:1 error invalid-model-path: the path does not name a model: expected another schema; "temp" is taken
      hint: rename the folder, such as models/my_temp`,
    grade: 'A',
  },
  {
    id: 'a38',
    mistake: 'a model in models/ itself',
    files: { 'models/two.sql': select },
    answer: `
      models/two.sql:1:1 error invalid-model-path: the path does not name a model: expected models/<schema>/<name>.sql
      hint: put it into a folder, such as models/core/two.sql`,
    grade: 'A',
  },
  {
    id: 'a39',
    mistake: 'a folder below a schema',
    files: { 'models/mart/eu/two.sql': select },
    answer: `
      models/mart/eu/two.sql:1:1 error invalid-model-path: the path does not name a model: expected models/<schema>/<name>.sql
      hint: join the folders into one name: models/mart_eu/two.sql`,
    grade: 'A',
  },
  {
    id: 'a40',
    mistake: 'a file name with a blank, exposed',
    files: { 'models/mart/my model-1.sql': `-- @expose order_id\n${select}` },
    answer: `
      models/mart/my model-1.sql:1:4 error exposed-name: the entity set "mart_my model-1" cannot be exposed: a name in OData has letters, digits and underscores only, and does not start with a digit
      hint: rename the file to models/mart/my_model_1.sql`,
    grade: 'A',
  },
  {
    id: 'a41',
    mistake: 'a text file in models/',
    files: { 'models/mart/v.txt': 'SELECT 1', 'models/mart/v.sql.bak': 'SELECT 1' },
    answer: `
      models/mart/v.txt:1:1 warning ignored-file: this file is not read: a model is a .sql file
      hint: rename or move it; a name that begins with a dot is ignored`,
    grade: 'A',
  },
  {
    id: 'a41-yml',
    mistake: 'schema.yml of dbt',
    files: { 'models/mart/schema.yml': 'models: []' },
    answer: `
      models/mart/schema.yml:1:1 warning ignored-file: this file is not read: a model is a .sql file
      hint: its tests and descriptions go into the models, as -- @check and -- @description; its sources into eider.yml`,
    grade: 'A',
  },
  {
    id: 'a41-py',
    mistake: 'a Python model of dbt',
    files: { 'models/mart/two.py': 'def model(dbt, session): pass' },
    answer: `
      models/mart/two.py:1:1 warning ignored-file: this file is not read: a model is a .sql file
      hint: eider does not run programs; run it first, and read the file that it writes`,
    grade: 'A',
  },
  {
    id: 'a41-case',
    mistake: '.SQL',
    files: { 'models/mart/two.SQL': select },
    answer: '',
    grade: 'A',
  },
  {
    id: 'a44',
    mistake: 'a byte order mark',
    files: two(`\ufeff${select}`),
    answer: '',
    grade: 'A',
  },
  {
    id: 'a45',
    mistake: 'line ends of Windows',
    files: two(`-- @kind: view\r\n${select}\r\n`),
    answer: '',
    grade: 'A',
  },
  {
    id: 'a47',
    mistake: 'UTF-16',
    files: { 'models/mart/two.sql': Buffer.from(`\ufeff${select}`, 'utf16le') },
    answer: `
      models/mart/two.sql:1:1 error unreadable-file: the file looks like UTF-16
      hint: save it as UTF-8`,
    grade: 'A',
  },
  {
    id: 'a48',
    mistake: 'Latin-1',
    files: { 'models/mart/two.sql': Buffer.from("SELECT\n  'Malm\u00f6' AS city", 'latin1') },
    answer: `
      models/mart/two.sql:2:8 error unreadable-file: the byte F6 is not UTF-8
      hint: it looks like Latin-1 (Windows-1252); save it as UTF-8`,
    grade: 'A',
  },
  {
    id: 'b28',
    mistake: 'a model that cannot be read, and that others read',
    files: { 'models/core/orders.sql': Buffer.from("SELECT 'Malm\u00f6'", 'latin1') },
    answer: `
      models/core/orders.sql:1:13 error unreadable-file: the byte F6 is not UTF-8
      hint: it looks like Latin-1 (Windows-1252); save it as UTF-8`,
    grade: 'A',
  },
  {
    id: 'a51',
    mistake: 'macros of dbt',
    files: { 'macros/cents.sql': '{% macro cents(x) %} {{ x }} / 100 {% endmacro %}' },
    answer: `
      macros/cents.sql:1:1 error not-a-macro: a macro file is a list of macros: expected CREATE MACRO
      hint: macros of dbt are not read; write CREATE MACRO name(x) AS …`,
    grade: 'A',
  },
]
