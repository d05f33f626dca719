// Mistakes in one line of SQL.

import type { Mistake } from './mistake.ts'

/** The file of most rows that are about one model. */
export const two = (text: string) => ({ 'models/mart/two.sql': text })

/** What is said of the model, from its place on, and the hint. */
export const line = (
  id: string,
  mistake: string,
  sql: string,
  message: string,
  hint?: string,
): Mistake => ({
  id,
  mistake,
  files: two(sql),
  answer: `models/mart/two.sql:${message}` + (hint === undefined ? '' : `\nhint: ${hint}`),
  grade: 'A',
})
