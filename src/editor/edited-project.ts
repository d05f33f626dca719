// A project while somebody edits it: compiled again after each change, with the texts that are not saved yet.

import { join, relative, sep } from 'node:path'
import { readTextLater } from '../files/read-file.ts'
import { compileAll } from '../compiler/compile.ts'
import { diagnosticsOf } from '../compiler/mistakes.ts'
import { scheduleMistakes, knownModels } from '../compiler/select.ts'
import { type Diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import { limits } from '../core/limits.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import { type LoadOptions, loadProject } from '../project/load.ts'
import type { Project } from '../project/project.ts'
import type { UnsavedTexts } from '../project/read-text.ts'
import { ProjectWatch } from '../project/watch.ts'

export interface LastCompile {
  readonly project: Project
  readonly compiled: CompiledProject
}

interface EditedProjectOptions extends LoadOptions {
  readonly onDiagnostics: (diagnostics: readonly Diagnostic[]) => void
  /** Why the project cannot be compiled, if no file of it is to blame. */
  readonly onProblem: (message: string) => void
}

/** Compiles one after the other: relative names of files are looked up in the working directory, which there is one of. */
let turn: Promise<unknown> = Promise.resolve()

export class EditedProject implements AsyncDisposable {
  readonly dir: string
  readonly #options: EditedProjectOptions
  readonly #unsaved = new Map<string, string>()
  #watch: ProjectWatch | null = null
  #timer: NodeJS.Timeout | undefined
  #isStale = true
  /** Sources are asked when something was saved, and not at each key. */
  #isSaved = true
  #isClosed = false
  #compiling: Promise<void> | null = null
  #understood: LastCompile | null = null
  #problem = ''
  #models: ReadonlyMap<ModelName, Model> = new Map()

  constructor(dir: string, options: EditedProjectOptions) {
    this.dir = dir
    this.#options = options
  }

  /** Begins to see what others change: a checkout, a formatter, a run that writes a seed. */
  async follow(): Promise<void> {
    const watch = await ProjectWatch.open(this.dir)
    if (this.#isClosed) return await watch[Symbol.asyncDispose]()
    this.#watch = watch
    watch.onChange(() => {
      this.#isSaved = true
      this.note()
      return Promise.resolve()
    })
  }

  /** From the project directory on, with forward slashes; null: the file is not in it. */
  pathOf(file: string): string | null {
    const path = relative(this.dir, file).split(sep).join('/')
    return path === '' || path.startsWith('../') ? null : path
  }

  /** The text of an open file; null: what is on disk counts. */
  setText(path: string, text: string | null): void {
    if (text === null) this.#unsaved.delete(path)
    else this.#unsaved.set(path, text)
    this.note()
  }

  /** The text that is open in the editor, or else the one on disk; null when there is no such file. */
  async read(path: string): Promise<string | null> {
    return this.#unsaved.get(path) ?? (await readTextLater(join(this.dir, path)).catch(() => null))
  }

  /** Something has changed: compiles when nothing follows for a moment. */
  note(): void {
    this.#isStale = true
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.fresh(), limits.editorQuietMs)
  }

  /** Each model as it was when it last compiled; a text that is being typed rarely does. */
  lastModels(): readonly Model[] {
    return [...this.#models.values()]
  }

  lastKnown(path: string): Model | null {
    return this.lastModels().find(({ source }) => source.path === path) ?? null
  }

  /** The last compile that came to an end; its texts may be older than what is open. */
  get understood(): LastCompile | null {
    return this.#understood
  }

  /** The compile of what is open now; null while eider.yml has mistakes. */
  async fresh(): Promise<LastCompile | null> {
    clearTimeout(this.#timer)
    while ((this.#isStale || this.#compiling !== null) && !this.#isClosed)
      await (this.#compiling ??= this.#compile())
    return this.#understood
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#watch?.[Symbol.asyncDispose]()
    await this.#compiling
  }

  /** The project with other texts, and without a model, to see what an edit would do. Nobody is notified. */
  async compileWith(texts: ReadonlyMap<string, string>, without?: string): Promise<LastCompile> {
    const unsaved = new Map([...this.#unsaved, ...texts])
    return await this.#inTurn(() => this.#understand(unsaved, without))
  }

  async #compile(): Promise<void> {
    this.#isStale = false
    try {
      const understood = await this.#inTurn(() => this.#understand(this.#unsaved))
      this.#understood = understood
      const known = knownModels(understood.compiled)
      const before = [...this.#models].filter(([name]) => understood.compiled.failed.has(name))
      this.#models = new Map([...before, ...understood.compiled.models])
      this.#problem = ''
      this.#options.onDiagnostics([
        ...scheduleMistakes(understood.project.schedule, known),
        ...diagnosticsOf(understood.compiled, new Set(known.keys())),
      ])
    } catch (error) {
      if (error instanceof DiagnosticsError) this.#options.onDiagnostics(error.diagnostics)
      else this.#tell(error as Error)
    } finally {
      this.#compiling = null
    }
  }

  /** Once for as long as it lasts: each change is another try. */
  #tell({ message }: Error): void {
    if (message === this.#problem) return
    this.#problem = message
    this.#options.onProblem(message)
  }

  async #understand(unsaved: UnsavedTexts, without?: string): Promise<LastCompile> {
    const { env, flags, target, vars } = this.#options
    const project = await loadProject(this.dir, { env, flags, target, vars, unsaved })
    const knownTables = this.#understood?.compiled.external?.tables ?? []
    const models = project.files.models.filter(({ source }) => source.path !== without)
    const trustsKnown = !this.#isSaved
    this.#isSaved = false
    const options = { dir: this.dir, knownTables, trustsKnown }
    const compiled = await compileAll({ ...project.files, models }, options)
    return { project, compiled }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(() => {
      process.chdir(this.dir)
      return work()
    })
    turn = mine.catch(() => {})
    return await mine
  }
}
