// `up.json` in the state of a target: what the supervisor of that target does, for `eider status`, and what the next one
// is to know. It is replaced as a whole, so a reader sees one state.

import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readTextLater } from '../files/read-file.ts'
import type { UpState } from '../core/report/up.ts'

const stateFile = (stateDir: string): string => join(stateDir, 'up.json')

/** null: there is none that is understood. */
export async function readUpState(stateDir: string): Promise<UpState | null> {
  try {
    const state = JSON.parse(await readTextLater(stateFile(stateDir))) as UpState
    return state.version === 1 ? state : null
  } catch {
    return null
  }
}

export class StateFile {
  readonly #path: string
  readonly #read: () => UpState
  readonly #onFailure: (error: unknown) => void
  #isOld = false
  #hasFailed = false
  #writing: Promise<void> | null = null

  constructor(stateDir: string, read: () => UpState, onFailure: (error: unknown) => void) {
    this.#path = stateFile(stateDir)
    this.#read = read
    this.#onFailure = onFailure
  }

  /** Soon, and once for what changes together. */
  save(): void {
    this.#isOld = true
    this.#writing ??= this.#write()
  }

  async saved(): Promise<void> {
    await this.#writing
  }

  async #write(): Promise<void> {
    while (this.#isOld) {
      await Promise.resolve()
      this.#isOld = false
      try {
        // Not synced: after a power cut the state before it is as good.
        await writeFile(`${this.#path}.tmp`, JSON.stringify(this.#read(), null, 2) + '\n')
        await rename(`${this.#path}.tmp`, this.#path)
        this.#hasFailed = false
      } catch (error) {
        // A full disk stops nothing that works without this file.
        if (!this.#hasFailed) this.#onFailure(error)
        this.#hasFailed = true
      }
    }
    this.#writing = null
  }
}
