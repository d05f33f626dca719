// Lines that git writes into a data file at a merge conflict.

import { MiB } from '../../core/byte-sizes.ts'
import { conflictMarker, type FilePlace } from '../../core/source-text.ts'
import { startOf } from './start-of-file.ts'

/** Data that somebody merges is a fraction of this long, and each compile reads as much of each file that is looked at. */
const SEARCHED_BYTES = 4 * MiB

interface Conflict extends FilePlace {
  readonly line: number
}

/** Where a conflict begins that nobody has resolved. `path`: of a file of this machine; `shown`: as it is shown. */
export function conflictIn(path: string, shown: string): Conflict | null {
  const bytes = startOf(path, SEARCHED_BYTES)
  if (!bytes.includes('<<<<<<<') || !bytes.includes('>>>>>>>')) return null
  const all = bytes.toString('utf8')
  const marker = conflictMarker(all)
  if (marker === null || !/^={7}\r?$/m.test(all)) return null
  const before = all.slice(0, marker.start)
  // A value of several lines may be about git; JSON has none.
  if (!/^\s*[[{]/.test(all) && before.split('"').length % 2 === 0) return null
  const line = before.split('\n').length
  const text = all.slice(marker.start, marker.end)
  const source = { path: shown, text, firstLine: line }
  return { source, span: { start: 0, end: text.length }, line }
}
