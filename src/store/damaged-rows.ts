// Rows that were written and do not come back.

import { EnvironmentError } from '../core/failures.ts'

/** A model that reads them fails, and the run goes on; anything else that reads them ends with this error. */
export class DamagedRowsError extends EnvironmentError {
  override name = 'DamagedRowsError'
  constructor(message: string, options: { readonly hint: string; readonly cause?: unknown }) {
    super('lake-damaged', message, options)
  }
}
