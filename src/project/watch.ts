// The files of a project that decide what it means, watched: eider.yml, .env, models/, seeds/, macros/ and checks/.

import { join, relative, sep } from 'node:path'
import { watch } from 'chokidar'
import { readdir, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { hashOf } from '../core/hash.ts'
import { limits } from '../core/limits.ts'
import { readFileLater } from '../files/read-file.ts'
import { decides } from './files.ts'

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
  /** A directory has come or gone since everything was last looked at. */
  #dirsChanged = false
  #nextLook: NodeJS.Timeout | undefined
  #working: Promise<void> | null = null
  readonly #contents = new KnownContents()
  /** Ends when every event up to now has been looked at, one after the other. */
  #looking = Promise.resolve()
  /** The last look at all files that no event asked for. */
  #rescue = Promise.resolve()

  private constructor(dir: string, options: WatchOptions) {
    const { quietMs = limits.watchQuietMs, also = [], only = WATCHED } = options
    this.#dir = dir
    this.#watched = [...only, ...also]
    this.#quietMs = quietMs
    this.#quietTextMs = options.quietTextMs ?? quietMs
    // The project directory itself is watched, so that a models/ that is made later is seen too.
    this.#watcher = watch(dir, {
      ignoreInitial: true,
      // Each file costs a watch of the system, of which a user has 8,192 on a small machine, and 10 kB.
      ignored: (path, stats) =>
        !this.#isWatched(path) || (stats?.isFile() === true && !this.#isRead(path)),
    })
    // A link to itself, or a directory that cannot be read: what is read of the project says so.
    this.#watcher.on('error', () => this.note())
    this.#watcher.on('all', (event, path) => {
      // Only files decide what a project means.
      if (event === 'addDir' || event === 'unlinkDir') {
        this.#dirsChanged = true
        this.#wait()
        return
      }
      void this.#lookInTurn(path)
      // chokidar says nothing of what is saved within 50 ms of an event of the same file.
      setTimeout(() => void this.#lookInTurn(path), limits.watchTwiceMs).unref()
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
    await watching.#contents.learn(filesOf(watching.#watcher.getWatched()))
    await watching.#lookAtAll()
    watching.#lookAgainLater(0)
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
      const looked = this.#dirsChanged ? this.#lookAtAll() : this.#looking
      void looked.then(() => this.#begin())
    }, quietMs)
  }

  #lookInTurn(path: string): Promise<void> {
    this.#looking = this.#looking.then(() => this.#lookAt(path))
    return this.#looking
  }

  async #lookAt(path: string): Promise<void> {
    if (this.#watcher.closed || !(await this.#contents.hasChanged(path))) return
    this.#paths.add(relative(this.#dir, path))
    this.note()
  }

  /**
   * What chokidar does not tell of: it reads a new directory before it watches it, and of one that is moved away and back
   * it may watch nothing any more, without an event now or later.
   */
  async #lookAtAll(): Promise<void> {
    this.#dirsChanged = false
    const watched = this.#watcher.getWatched()
    const paths = new Set(this.#contents.paths())
    const dirs = [this.#dir]
    for (const dir of dirs) {
      const known = new Set(watched[dir])
      for (const entry of await readdir(dir, { withFileTypes: true }).catch(() => [])) {
        const path = join(dir, entry.name)
        if (!this.#isWatched(path) || (entry.isFile() && !this.#isRead(path))) continue
        if (!known.has(entry.name) && !this.#watcher.closed) this.#watcher.add(path)
        if (entry.isDirectory()) dirs.push(path)
        else paths.add(path)
      }
    }
    for (const path of paths)
      if (await this.#contents.looksChanged(path)) await this.#lookInTurn(path)
    await this.#looking
  }

  /** `tookMs`: to look at all files once. It must not keep a processor busy, however many there are. */
  #lookAgainLater(tookMs: number): void {
    if (this.#watcher.closed) return
    this.#nextLook = setTimeout(
      () => {
        const beganMs = performance.now()
        this.#rescue = this.#lookAtAll().then(() =>
          this.#lookAgainLater(performance.now() - beganMs),
        )
      },
      Math.max(limits.watchAgainMs, limits.watchAgainPause * tookMs),
    ).unref()
  }

  #isWatched(path: string): boolean {
    const [top = '', ...rest] = relative(this.#dir, path).split(sep)
    const isTop = path === this.#dir || this.#watched.includes(top)
    return isTop && !rest.some((name) => name.startsWith('.'))
  }

  #isRead(path: string): boolean {
    return decides(relative(this.#dir, path))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#work = null
    clearTimeout(this.#timer)
    clearTimeout(this.#nextLook)
    const ended = async () => {
      await this.#watcher.close()
      await this.#rescue
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
  readonly #known = new Map<string, Known>()

  paths(): Iterable<string> {
    return this.#known.keys()
  }

  /** Takes these files for what is known; directories among them are left out. */
  async learn(paths: readonly string[]): Promise<void> {
    await Promise.all(paths.map((path) => this.hasChanged(path)))
  }

  /** Without reading it: by its size, its times and its number. */
  async looksChanged(path: string): Promise<boolean> {
    const found = await lookAt(path)
    return found?.stamp !== this.#known.get(path)?.stamp
  }

  /** Since the last call with this path; a file that is not there has changed when it was there before. */
  async hasChanged(path: string): Promise<boolean> {
    const before = this.#known.get(path)
    const found = await lookAt(path)
    const identity = found === null ? null : await identityOf(path, found)
    if (found === null || identity === null) this.#known.delete(path)
    else this.#known.set(path, { stamp: found.stamp, identity })
    return identity !== (before?.identity ?? null)
  }
}

interface Known {
  readonly stamp: string
  readonly identity: string
}

interface Seen {
  readonly stamp: string
  /** When the file was written, if it is too large to be compared. */
  readonly writtenAt: string | null
}

async function lookAt(path: string): Promise<Seen | null> {
  try {
    const found = await stat(path, { bigint: true })
    if (found.isDirectory()) return null
    const { ino, size, mtimeNs, ctimeNs } = found
    const writtenAt = size > limits.comparedFileBytes ? `${size} ${mtimeNs}` : null
    return { stamp: [ino, size, mtimeNs, ctimeNs].join(), writtenAt }
  } catch (error) {
    const code = codeOf(error)
    return isAbsence(code) ? null : { stamp: code, writtenAt: null }
  }
}

/** For a large file it is when it was written: reading it takes longer than a run that finds nothing to do. */
async function identityOf(path: string, { writtenAt }: Seen): Promise<string | null> {
  if (writtenAt !== null) return writtenAt
  try {
    return hashOf(32, [(await readFileLater(path, limits.comparedFileBytes)).toString('base64')])
  } catch (error) {
    const code = codeOf(error)
    return isAbsence(code) ? null : code
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

const isAbsence = (code: string): boolean => ['ENOENT', 'EISDIR', 'ENOTDIR'].includes(code)
