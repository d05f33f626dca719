// The files of a project that decide what it means, watched: eider.yml, models/, seeds/ and macros/.

import { relative, sep } from 'node:path'
import { watch } from 'chokidar'
import { once } from 'node:events'
import { limits } from '../core/limits.ts'

const WATCHED = ['eider.yml', 'models', 'seeds', 'macros']

export class ProjectWatch implements AsyncDisposable {
  readonly #watcher: ReturnType<typeof watch>
  readonly #quietMs: number
  #work: (() => Promise<void>) | null = null
  #timer: NodeJS.Timeout | undefined
  /** A change that no work has begun after. */
  #changed = false
  #working: Promise<void> | null = null

  private constructor(dir: string, quietMs: number) {
    this.#quietMs = quietMs
    // The project directory itself is watched, so that a models/ that is made later is seen too.
    this.#watcher = watch(dir, {
      ignoreInitial: true,
      ignored: (path) => !isWatched(relative(dir, path)),
    })
    this.#watcher.on('all', () => this.note())
  }

  /** Sees every change from now on. A burst of changes is one, which ends when nothing changes for `quietMs`. */
  static async open(
    dir: string,
    { quietMs = limits.watchQuietMs }: { readonly quietMs?: number } = {},
  ): Promise<ProjectWatch> {
    const watching = new ProjectWatch(dir, quietMs)
    await once(watching.#watcher, 'ready')
    return watching
  }

  /** Calls `work` after each burst, also for what has changed already; never twice at a time. `work` must not reject. */
  onChange(work: () => Promise<void>): void {
    this.#work = work
    if (this.#changed) this.note()
  }

  /** Counts as a change, of something that is not watched here. */
  note(): void {
    this.#changed = true
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#begin(), this.#quietMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#work = null
    clearTimeout(this.#timer)
    await this.#watcher.close()
    await this.#working
  }

  async #begin(): Promise<void> {
    if (this.#work === null || this.#working !== null) return
    while (this.#changed && this.#work !== null) {
      this.#changed = false
      this.#working = this.#work()
      await this.#working
    }
    this.#working = null
  }
}

function isWatched(path: string): boolean {
  const [top = '', ...rest] = path.split(sep)
  return path === '' || (WATCHED.includes(top) && !rest.some((name) => name.startsWith('.')))
}
