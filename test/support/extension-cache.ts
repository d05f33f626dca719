// Signed extensions of the engine for tests, as `npm run lake-parts` puts them into the cache of this machine. A test
// that needs one which is not there is skipped, and says so.

import { existsSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import type { Test } from 'uvu'
import { extensionFile } from '../../src/duckdb/extension-files.ts'

/** Of the form of `extensions.directory`. */
export const extensionCache = join(
  process.env['EIDER_LAKE_PARTS'] ?? join(os.homedir(), '.cache', 'eider', 'lake-parts'),
  'extensions',
)

export function withExtensions(
  test: Test,
  names: readonly string[],
  name: string,
  run: () => Promise<void>,
): void {
  const missing = names.filter((one) => !existsSync(extensionFile(extensionCache, one)))
  if (missing.length === 0) return test(name, run)
  process.stderr.write(
    `skipped, without the extension ${missing.join(', ')} (npm run lake-parts): ${name}\n`,
  )
  test.skip(name, run)
}
