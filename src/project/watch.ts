// The files of a project that decide what it means, watched: eider.yml, .env, models/, seeds/, macros/ and checks/.

import { join, relative, sep } from 'node:path'
import { watch } from 'chokidar'
import { readdir, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { hashOf } from '../core/hash.ts'
import { limits } from '../core/limits.ts'
import { readFileLater } from '../files/read-file.ts'

const WATCHED = ['eider.yml', '.env', 'models', 'seeds', 'macros', 'checks']

interface WatchOptions {
  readonly quietMs?: number
  /** The same where a single text was saved: somebody is waiting. `quietMs` when absent. */
  readonly quietTextMs?: number
  readonly also?: readonly string[]
  /** These alone. */
  readonly only?: readonly string[]
}

/** `paths`: what was saved, made or removed, from the directory of the project on. */
type Work = (paths: readonly string[]) => Promise<void>

export class ProjectWatch implements AsyncDisposable {
  readonly #dir: string
  readonly #watched: readonly string[]
  readonly #watcher: ReturnType<typeof watch>
  readonly #quietMs: number
  readonly #quietTextMs: number
  #work: Work | null = null
  #timer: NodeJS.Timeout | undefined
  /** A change that no work has begun after; the paths of what is watched here. */
  #changed = false
  #paths = new Set<string>()
  /** Directories that have been made since they were last looked into. */
  #newDirs: string[] = []
  #working: Promise<void> | null = null
  readonly #contents = new KnownContents()
  /** Ends when every event up to now has been looked at, one after the other. */
  #looking = Promise.resolve()

  private constructor(dir: string, options: WatchOptions) {
    const { quietMs = limits.watchQuietMs, also = [], only = WATCHED } = options
    this.#dir = dir
    this.#watched = [...only, ...also]
    this.#quietMs = quietMs
    this.#quietTextMs = options.quietTextMs ?? quietMs
    // The project directory itself is watched, so that a models/ that is made later is seen too.
    this.#watcher = watch(dir, {
      ignoreInitial: true,
      ignored: (path) => !this.#isWatched(path),
    })
    // A link to itself, or a directory that cannot be read: what is read of the project says so.
    this.#watcher.on('error', () => this.note())
    this.#watcher.on('all', (event, path) => {
      // Only files decide what a project means.
      if (event === 'addDir') {
        this.#newDirs.push(path)
        this.#wait()
      } else if (event !== 'unlinkDir') this.#looking = this.#looking.then(() => this.#lookAt(path))
    })
  }

  /** Sees every change from now on. A burst of changes is one, which ends when nothing changes for a moment. */
  static async open(dir: string, options: WatchOptions = {}): Promise<ProjectWatch> {
    const watching = new ProjectWatch(dir, options)
    await new Promise<void>((resolve) => {
      watching.#watcher.once('ready', resolve)
      // After an error it may never come.
      watching.#watcher.once('error', () => setTimeout(resolve, limits.reloadEndMs))
    })
    const watched = watching.#watcher.getWatched()
    await watching.#contents.learn(filesOf(watched))
    watching.#newDirs.push(...Object.keys(watched).filter((path) => watching.#isWatched(path)))
    await watching.#lookIntoNewDirs()
    return watching
  }

  /** Calls `work` after each burst, also for what has changed already; never twice at a time. `work` must not reject. */
  onChange(work: Work): void {
    this.#work = work
    if (this.#changed) this.note()
  }

  /** Counts as a change, of something that is not watched here. */
  note(): void {
    this.#changed = true
    this.#wait()
  }

  #wait(): void {
    clearTimeout(this.#timer)
    const [path = '', more] = this.#paths
    const isText = more === undefined && /\.(?:sql|ya?ml)$/.test(path)
    const quietMs = isText ? this.#quietTextMs : this.#quietMs
    this.#timer = setTimeout(() => {
      this.#looking = this.#looking.then(() => this.#lookIntoNewDirs())
      void this.#looking.then(() => this.#begin())
    }, quietMs)
  }

  async #lookAt(path: string): Promise<void> {
    if (!(await this.#contents.hasChanged(path))) return
    this.#paths.add(relative(this.#dir, path))
    this.note()
  }

  /** chokidar reads a new directory before it watches it: a file that is made in between has no event, now or later. */
  async #lookIntoNewDirs(): Promise<void> {
    const dirs = this.#newDirs
    this.#newDirs = []
    if (dirs.length === 0) return
    const watched = this.#watcher.getWatched()
    for (const dir of dirs) {
      const known = new Set(watched[dir])
      for (const entry of await readdir(dir, { withFileTypes: true }).catch(() => [])) {
        const path = join(dir, entry.name)
        if (known.has(entry.name) || !this.#isWatched(path) || this.#watcher.closed) continue
        this.#watcher.add(path)
        if (entry.isDirectory()) dirs.push(path)
        else await this.#lookAt(path)
      }
    }
  }

  #isWatched(path: string): boolean {
    const [top = '', ...rest] = relative(this.#dir, path).split(sep)
    const isTop = path === this.#dir || this.#watched.includes(top)
    return isTop && !rest.some((name) => name.startsWith('.'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#work = null
    clearTimeout(this.#timer)
    const ended = async () => {
      await this.#watcher.close()
      await this.#looking
      clearTimeout(this.#timer)
      await this.#working
    }
    // Work that hangs must not keep a server that is asked to stop.
    await Promise.race([ended(), sleep(limits.reloadEndMs, undefined, { ref: false })])
    clearTimeout(this.#timer)
  }

  async #begin(): Promise<void> {
    if (this.#work === null || this.#working !== null) return
    while (this.#changed && this.#work !== null) {
      this.#changed = false
      const paths = [...this.#paths].toSorted()
      this.#paths.clear()
      this.#working = this.#work(paths)
      await this.#working
    }
    this.#working = null
  }
}

const filesOf = (watched: Readonly<Record<string, readonly string[]>>): readonly string[] =>
  Object.entries(watched).flatMap(([dir, names]) => names.map((name) => join(dir, name)))

/** What files held when they were last looked at, so that one that is saved as it was, or only touched, is no change. */
class KnownContents {
  readonly #hashes = new Map<string, string>()

  /** Takes these files for what is known; directories among them are left out. */
  async learn(paths: readonly string[]): Promise<void> {
    await Promise.all(paths.map((path) => this.hasChanged(path)))
  }

  /** Since the last call with this path; a file that is not there has changed when it was there before. */
  async hasChanged(path: string): Promise<boolean> {
    const before = this.#hashes.get(path)
    const now = await identityOf(path)
    if (now === null) this.#hashes.delete(path)
    else this.#hashes.set(path, now)
    return (now ?? undefined) !== before
  }
}

/** For a large file it is when it was written: reading it takes longer than a run that finds nothing to do. */
async function identityOf(path: string): Promise<string | null> {
  try {
    const { size, mtimeMs } = await stat(path)
    if (size > limits.comparedFileBytes) return `${size} ${mtimeMs}`
    return hashOf(32, [(await readFileLater(path, limits.comparedFileBytes)).toString('base64')])
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'EISDIR' || code === 'ENOTDIR' ? null : `${code}`
  }
}
