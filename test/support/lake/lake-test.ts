// Tests that need real parts of a lake are skipped where these are missing, or fail where EIDER_TEST_PARTS=required.

import { test } from 'uvu'
import { missingLakeParts, missingParts, partsAreRequired } from './parts.ts'

const missing = missingParts()

/** A test on PostgreSQL, a store and the extensions. */
export function lakeTest(name: string, run: () => Promise<void>): void {
  testWith(missingLakeParts(), name, run)
}

/** A test that needs versitygw as well, the store that enforces rights. */
export function rightsTest(name: string, run: () => Promise<void>): void {
  testWith(missing, name, run)
}

function testWith(lines: readonly string[], name: string, run: () => Promise<void>): void {
  if (lines.length === 0) test(name, run)
  else if (partsAreRequired) test(name, () => Promise.reject(new Error(lines.join('\n'))))
  else test.skip(name)
}
