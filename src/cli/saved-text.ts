// What a command that watches says when files are saved.

import { count } from '../core/counts.ts'

/** When, and what, with the files of one save in one line. */
export function savedText(paths: readonly string[]): string {
  const time = new Date().toTimeString().slice(0, 8)
  const [first = '', ...others] = paths
  return `${time}   ${first}${others.length === 0 ? '' : ` and ${count(others.length, 'other file')}`}`
}
