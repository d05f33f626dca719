// Signed extensions of the engine for tests, as `npm run lake-parts` puts them into the cache of this machine. A test
// that needs one which is not there is skipped, or fails where EIDER_TEST_PARTS=required.

import { existsSync } from 'node:fs'
import type { Test } from 'uvu'
import { extensionFile, places } from './lake/parts.ts'

/** Of the form of `extensions.directory`. */
export const extensionCache = places.extensions

const isRequired = process.env['EIDER_TEST_PARTS'] === 'required'

export function withExtensions(
  test: Test,
  names: readonly string[],
  name: string,
  run: () => Promise<void>,
): void {
  const missing = names.filter((one) => !existsSync(extensionFile(one)))
  if (missing.length === 0) return test(name, run)
  const reason = `without the extension ${missing.join(', ')}: run \`npm run lake-parts\``
  if (isRequired) test(name, () => Promise.reject(new Error(reason)))
  else test.skip(name)
}
