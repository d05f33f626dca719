// The projects whose files an editor has open: found by the nearest eider.yml, kept while the server lasts.

import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  type Connection,
  type Location,
  MessageType,
  ShowMessageNotification,
} from 'vscode-languageserver/node'
import type { Diagnostic } from '../core/diagnostics.ts'
import type { SourceFile, FilePlace } from '../core/source-text.ts'
import { findProjectDir, type LoadOptions } from '../project/load.ts'
import { byFile, shownDiagnostic } from './diagnostics.ts'
import { EditedProject, type LastCompile } from './edited-project.ts'
import { lspRange } from './positions.ts'

export interface EditorFile {
  readonly project: EditedProject
  readonly path: string
}

interface OpenProject {
  readonly project: EditedProject
  /** What the last compile found, by path: an empty list takes away what was shown before. */
  shown: ReadonlyMap<string, readonly Diagnostic[]>
}

export class OpenProjects {
  readonly #connection: Connection
  readonly #options: LoadOptions
  readonly #byDir = new Map<string, OpenProject>()
  /** URIs as the editor spells them: it chooses what to percent-encode. */
  readonly #uris = new Map<string, string>()

  constructor(connection: Connection, options: LoadOptions) {
    this.#connection = connection
    this.#options = options
  }

  /** The project in whose directory, or above, an eider.yml is; null: there is none. */
  async find(directory: string): Promise<EditedProject | null> {
    const dir = await findProjectDir(directory).catch(() => null)
    if (dir === null) return null
    const known = this.#byDir.get(dir)
    if (known !== undefined) return known.project
    const project: EditedProject = new EditedProject(dir, {
      ...this.#options,
      onDiagnostics: (found) => this.#publish(dir, found),
      onProblem: (message) => {
        this.#publish(dir, [])
        tellPerson(this.#connection, MessageType.Error, `eider: ${message}`)
      },
    })
    this.#byDir.set(dir, { project, shown: new Map() })
    project.follow().catch((error: unknown) => {
      this.#connection.console.warn(`files are not watched: ${(error as Error).message}`)
    })
    project.note()
    return project
  }

  async fileOf(uri: string): Promise<EditorFile | null> {
    const file = fileOfUri(uri)
    if (file === null) return null
    const project = await this.find(dirname(file))
    const path = project?.pathOf(file) ?? null
    if (project === null || path === null) return null
    this.#uris.set(this.#plainUri(project.dir, path), uri)
    return { project, path }
  }

  uriOf(project: EditedProject, path: string): string {
    const plain = this.#plainUri(project.dir, path)
    return this.#uris.get(plain) ?? plain
  }

  diagnosticsOf({ project, path }: EditorFile): readonly Diagnostic[] {
    return this.#byDir.get(project.dir)?.shown.get(path) ?? []
  }

  placesOf({ project }: EditorFile): (place: FilePlace) => Location {
    return ({ source, span }) => ({
      uri: this.uriOf(project, source.path),
      range: lspRange(source, span),
    })
  }

  #publish(dir: string, diagnostics: readonly Diagnostic[]): void {
    const known = this.#byDir.get(dir)!
    const { project } = known
    const before = known.shown
    known.shown = byFile(diagnostics)
    const files = filesOf(project.understood)
    const uriOf = (path: string) => this.uriOf(project, path)
    for (const path of new Set([...before.keys(), ...known.shown.keys()])) {
      const items = known.shown.get(path) ?? []
      const shown = items.map((item) => shownDiagnostic(item, files, uriOf))
      void this.#connection.sendDiagnostics({ uri: uriOf(path), diagnostics: shown })
    }
  }

  #plainUri(dir: string, path: string): string {
    return pathToFileURL(`${dir}/${path}`).href
  }
}

/** Not as a question: editors need not answer those. */
export function tellPerson(connection: Connection, type: MessageType, message: string): void {
  void connection.sendNotification(ShowMessageNotification.type, { type, message })
}

/** null: it is not of this machine. */
export function fileOfUri(uri: string): string | null {
  try {
    return fileURLToPath(uri)
  } catch {
    return null
  }
}

const filesOf = (understood: LastCompile | null): readonly SourceFile[] =>
  understood?.project.files.models.map(({ source }) => source) ?? []
