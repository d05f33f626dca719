// Failures that have their own exit code and are not a mistake in a model.

/** A problem of the environment: a busy port, a held lock, a full disk, an unreachable daemon. Exit code 3. */
export class EnvironmentError extends Error {
  override name = 'EnvironmentError'
  readonly code: string
  readonly hint: string | undefined
  constructor(code: string, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.hint = options.hint
  }
}

/** A command line that cannot be carried out. Exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
  readonly hint: string | undefined
  constructor(message: string, options: { hint?: string } = {}) {
    super(message)
    this.hint = options.hint
  }
}
