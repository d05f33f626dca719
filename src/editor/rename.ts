// Rename, as the protocol has it: what may be renamed at a place, and the changes of all files.

import {
  LSPErrorCodes,
  type Position,
  type Range,
  ResponseError,
  type TextDocumentEdit,
  type WorkspaceEdit,
} from 'vscode-languageserver/node'
import { type Change, Refusal } from './edits.ts'
import type { EditedProject, LastCompile } from './edited-project.ts'
import { thingAt } from './names.ts'
import type { EditorFile } from './open-projects.ts'
import { offsetAt, lspRange } from './positions.ts'
import { renamableModel, columnRename } from './rename-column.ts'
import { modelRename } from './rename-model.ts'

interface Target {
  readonly understood: LastCompile
  readonly model: string
  readonly column: string | null
  readonly range: Range
}

/** Throws a ResponseError, which editors show, where nothing here can be renamed. */
export async function renameTarget(file: EditorFile, position: Position): Promise<Target> {
  return await refusing(async () => {
    const understood = await file.project.fresh()
    const text = understood === null ? null : await file.project.read(file.path)
    if (understood === null || text === null) throw new Refusal('eider.yml has mistakes')
    const source = { path: file.path, text }
    const found = thingAt(understood, file.path, offsetAt(text, position))
    if (found === null) throw new Refusal('there is no name of a model or column here')
    renamableModel(understood, found)
    const { model, column, span } = found
    return { understood, model, column, range: lspRange(source, span) }
  })
}

/** `next`: what is left to do, as a command. */
export async function rename(
  { project }: EditorFile,
  { understood, model, column }: Target,
  name: string,
  uriOf: (path: string) => string,
  canMove: boolean,
): Promise<{ readonly edit: WorkspaceEdit; readonly next: string | null }> {
  return await refusing(async () => {
    if (name.trim() === '') throw new Refusal('a name has at least one letter')
    if (column !== null) {
      const change = await columnRename(project, understood, { model, column }, name)
      return { edit: await workspaceEdit(project, change, uriOf), next: null }
    }
    if (!canMove) throw new Refusal('this editor does not move files: use eider mv')
    const { next, ...change } = await modelRename(project, understood, model, name)
    return { edit: await workspaceEdit(project, change, uriOf), next }
  })
}

async function workspaceEdit(
  project: EditedProject,
  { edits, moves }: Change,
  uriOf: (path: string) => string,
): Promise<WorkspaceEdit> {
  const documents: TextDocumentEdit[] = []
  for (const [path, items] of edits) {
    const source = { path, text: (await project.read(path)) ?? '' }
    documents.push({
      textDocument: { uri: uriOf(path), version: null },
      edits: items.map(({ text, ...span }) => ({ range: lspRange(source, span), newText: text })),
    })
  }
  const renames = moves.map(({ from, to }) => ({
    kind: 'rename' as const,
    oldUri: uriOf(from),
    newUri: uriOf(to),
  }))
  return { documentChanges: [...documents, ...renames] }
}

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new ResponseError(LSPErrorCodes.RequestFailed, error.message)
  }
}
