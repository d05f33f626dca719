// The program of this process writes changes of a set apart from fewer rows on than it does for users: what is written and
// read is the same, and a test need not sort a hundred thousand rows of each kind again and again. Imported by a test for
// the commands in its process, and by `node --import` for those in processes of their own.

import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Some groups of sorted rows (limits.snapshotRowGroupRows). */
export const APART_FROM = 40_000

const require = createRequire(import.meta.url)
const bundle = fileURLToPath(new URL('../../bundle', import.meta.url))
const core = readdirSync(bundle).find((file) => /^core-.*\.cjs$/.test(file))!
const { limits } = require(`${bundle}/${core}`) as { limits: { apartFromRows: number } }
limits.apartFromRows = APART_FROM

/** For a command in a process of its own. */
export const apartEarly = {
  NODE_OPTIONS: `--import=${new URL('apart-early.js', import.meta.url).href}`,
} as const
