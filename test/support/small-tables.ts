// From how many rows on the runs of this process update a table by what changed, and do not make it anew and compare it:
// tests of both ways need not have thousands of rows.

import { limits } from '../../src/core/limits.ts'

const known = limits as { smallTableRows: number }

const USUAL = known.smallTableRows

export function setSmallTables(are: 'updated' | 'compared'): void {
  known.smallTableRows = are === 'updated' ? 0 : USUAL
}
