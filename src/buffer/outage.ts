// A time in which a target accepts no events: logged when it begins and when it ends, not for every group it affects. A
// disk may stay full for hours with hundreds of groups a second.

import type { Logger } from '../core/logger.ts'
import type { ModelName } from '../core/names.ts'
import { errorCode } from './errors.ts'

export class Outage {
  readonly #target: ModelName
  readonly #logger: Logger
  #began: Date | null = null
  #failures = 0

  constructor(target: ModelName, logger: Logger) {
    this.#target = target
    this.#logger = logger
  }

  /** A write has failed. */
  meet(error: unknown): void {
    this.#failures++
    if (this.#began !== null) return
    this.#began = new Date()
    const fields = { target: this.#target, code: errorCode(error), error: String(error) }
    this.#logger.error('buffer-write-failed', fields)
  }

  /** A write has succeeded. */
  end(): void {
    if (this.#began === null) return
    const seconds = Math.round((Date.now() - this.#began.getTime()) / 1000)
    const fields = { target: this.#target, failures: this.#failures, seconds }
    this.#logger.info('buffer-writes-again', fields)
    this.#began = null
    this.#failures = 0
  }
}
