// An engine created ahead for the next snapshot: creating one is the longest part of opening it.

import { EmptyEngine, type EngineSettings } from '../../duckdb/read-only.ts'

export class SpareEngine implements AsyncDisposable {
  readonly #settings: EngineSettings
  /** null within where it could not be made: whoever needs it tries again and learns why. */
  #spare: Promise<EmptyEngine | null> | null = null

  constructor(settings: EngineSettings) {
    this.#settings = settings
  }

  /** Creates one unless there is one. */
  async prepare(): Promise<void> {
    this.#spare ??= EmptyEngine.open(this.#settings).catch(() => null)
    await this.#spare
  }

  /** The spare one, or a new one; the caller disposes of it. */
  async take(): Promise<EmptyEngine> {
    const spare = this.#spare
    this.#spare = null
    return (await spare) ?? (await EmptyEngine.open(this.#settings))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const spare = this.#spare
    this.#spare = null
    await (await spare)?.[Symbol.asyncDispose]()
  }
}
