// The columns of an events model.

import type { Mistake } from '../mistake.ts'

const events = (text: string) => ({ 'models/raw/two.sql': text })

export const rows: readonly Mistake[] = [
  {
    id: 'b43a',
    mistake: 'a missing comma',
    files: events('-- @kind: events\nid INTEGER\nname VARCHAR'),
    answer: `
      models/raw/two.sql:3:1 error invalid-column-type: "INTEGER name VARCHAR" is not a column type
      hint: is a comma missing before "name"?`,
    grade: 'A',
  },
  {
    id: 'b43a-not-null',
    mistake: 'a missing comma after NOT NULL',
    files: events('-- @kind: events\nid INTEGER NOT NULL\nname VARCHAR'),
    answer: `
      models/raw/two.sql:3:1 error not-a-column-list: an events model is a list of columns: expected a comma or NOT NULL after the type
      hint: is a comma missing before name?`,
    grade: 'A',
  },
  {
    id: 'b43b',
    mistake: 'a misspelt type',
    files: events('-- @kind: events\nid INTEGR'),
    answer: `
      models/raw/two.sql:2:4 error invalid-column-type: "INTEGR" is not a column type
      hint: did you mean "INTEGER"?`,
    grade: 'A',
  },
  {
    id: 'b43b-other',
    mistake: 'a type of Oracle',
    files: events('-- @kind: events\nid NUMBER'),
    answer: `
      models/raw/two.sql:2:4 error invalid-column-type: "NUMBER" is not a column type
      hint: in DuckDB: DECIMAL(18,2)`,
    grade: 'A',
  },
  {
    id: 'b43c',
    mistake: 'a SELECT',
    files: events('-- @kind: events\nSELECT 1 AS id'),
    answer: `
      models/raw/two.sql:2:1 error not-a-column-list: an events model is a list of columns: expected <column> <type> [NOT NULL], …
      hint: put the SELECT into a model of another kind that reads this one`,
    grade: 'A',
  },
  {
    id: 'b43d',
    mistake: 'a primary key',
    files: events('-- @kind: events\nid INTEGER PRIMARY KEY'),
    answer: `
      models/raw/two.sql:2:12 error not-a-column-list: an events model is a list of columns: expected a comma or NOT NULL after the type
      hint: columns of events have no other constraint; check them in a model that reads this one`,
    grade: 'A',
  },
  {
    id: 'b43e',
    mistake: 'a comma at the end',
    files: events('-- @kind: events\nid INTEGER,\n'),
    answer: '',
    grade: 'A',
  },
  {
    id: 'b43f',
    mistake: 'a column twice',
    files: events('-- @kind: events\nid INTEGER,\nID INTEGER'),
    answer: `
      models/raw/two.sql:3:1 error duplicate-column: two columns are named "ID"
      hint: rename or delete one of the two`,
    grade: 'A',
  },
  {
    id: 'b43g',
    mistake: 'a name with a blank',
    files: events('-- @kind: events\norder id INTEGER'),
    answer: `
      models/raw/two.sql:2:10 error invalid-column-type: "id INTEGER" is not a column type
      hint: a name with a space goes in double quotes: "order id" INTEGER`,
    grade: 'A',
  },
  {
    id: 'b43i',
    mistake: 'CREATE TABLE',
    files: events('-- @kind: events\nCREATE TABLE raw.x (id INTEGER, name VARCHAR)'),
    answer: `
      models/raw/two.sql:2:1 error not-a-column-list: an events model is a list of columns: expected the list alone
      hint: write only what is inside the parentheses: id INTEGER, name VARCHAR`,
    grade: 'A',
  },
  {
    id: 'b43j',
    mistake: 'a list of columns without @kind: events',
    files: events('id INTEGER,\nname VARCHAR'),
    answer: `
      models/raw/two.sql:1:1 error not-a-select: a model is one SELECT statement
      hint: a list of columns needs -- @kind: events above it`,
    grade: 'A',
  },
  {
    id: 'h04',
    mistake: '@kind: event',
    files: events('-- @kind: event\nid INTEGER'),
    answer: `
      models/raw/two.sql:1:11 error unknown-kind: no kind "event"
      hint: did you mean "events"?`,
    grade: 'A',
  },
  {
    id: 'b43h',
    mistake: 'reserved words as names',
    files: events('-- @kind: events\norder INTEGER,\ngroup VARCHAR'),
    answer: '',
    grade: 'A',
  },
]
