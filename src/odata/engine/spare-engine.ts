// An engine that is made before it is needed, for the next snapshot: making one is the longest part of taking it up.

import { EmptyEngine, type EngineSettings } from '../../duckdb/read-only.ts'

export class SpareEngine implements AsyncDisposable {
  readonly #settings: EngineSettings
  /** null within where it could not be made: whoever needs it tries again and learns why. */
  #spare: Promise<EmptyEngine | null> | null = null

  constructor(settings: EngineSettings) {
    this.#settings = settings
  }

  /** Makes one unless it is there. */
  async prepare(): Promise<void> {
    this.#spare ??= EmptyEngine.open(this.#settings).catch(() => null)
    await this.#spare
  }

  /** The spare one, or one that is made now; it is the caller's to dispose of. */
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
