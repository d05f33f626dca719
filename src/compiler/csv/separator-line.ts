// A first line such as `sep=;`, which tells Excel the sign that parts the values, and is no row.

import { startOf } from './start-of-file.ts'

const START_BYTES = 16

/** The sign; null where the file of this machine begins otherwise. */
export function separatorOf(path: string): string | null {
  const text = startOf(path, START_BYTES).toString('latin1')
  return /^(?:\xef\xbb\xbf)?"?sep=([\t\x20-\x7e])"?\r?\n/i.exec(text)?.[1] ?? null
}
