import type { Mistake } from '../mistake.ts'

export const rows: readonly Mistake[] = [
  {
    id: 'a02',
    mistake: 'a kind of another tool',
    files: { 'models/mart/two.sql': '-- @kind: incremental\nSELECT 1 AS a' },
    answer: `
      models/mart/two.sql:1:11 error unknown-kind: no kind "incremental"
      hint: the kinds are view, table, append, merge, scd2, events`,
    grade: 'A',
  },
  {
    id: 'a33',
    mistake: 'upper case',
    files: { 'models/mart/two.sql': '-- @KIND: VIEW\nSELECT 1 AS a' },
    answer: '',
    grade: 'A',
  },
]
