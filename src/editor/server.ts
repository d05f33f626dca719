// The language server: what an editor asks, over standard input and output. Texts are compiled as they are in the editor,
// saved or not; nothing is built and no table is read.

import {
  type CodeAction,
  CodeActionKind,
  createConnection,
  type InitializeParams,
  type InitializeResult,
  MessageType,
  ProposedFeatures,
  TextDocuments,
  TextDocumentSyncKind,
} from 'vscode-languageserver/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import type { LoadOptions } from '../project/load.ts'
import { definitionAt, hoverAt, referencesAt } from './answers.ts'
import { completionAt } from './completion.ts'
import { fixOf } from './fixes.ts'
import { formatHeader } from './format-header.ts'
import { lensesOf, OPEN, symbolsOf } from './lens.ts'
import { fileOfUri, type OpenFile, OpenProjects, tellPerson } from './open-projects.ts'
import { positionAt, rangeOf } from './places.ts'
import { rename, renameTarget } from './rename.ts'

export interface ServeEditorOptions extends LoadOptions {
  readonly version: string
}

/** The library ends the process, as the protocol wants it: with 0 after `shutdown`, else with 1. */
export function serveEditor({ version, ...load }: ServeEditorOptions): void {
  const connection = createConnection(ProposedFeatures.all, process.stdin, process.stdout)
  const projects = new OpenProjects(connection, load)
  const documents = new TextDocuments(TextDocument)

  let canMove = false
  connection.onInitialize((params): InitializeResult => {
    const { documentChanges, resourceOperations } =
      params.capabilities.workspace?.workspaceEdit ?? {}
    canMove = documentChanges === true && resourceOperations?.includes('rename') === true
    void openFolders(projects, params)
    return {
      serverInfo: { name: 'eider', version },
      capabilities: {
        textDocumentSync: TextDocumentSyncKind.Incremental,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
        hoverProvider: true,
        completionProvider: { triggerCharacters: ['.', '@', '{', ' '] },
        definitionProvider: true,
        referencesProvider: true,
        renameProvider: { prepareProvider: true },
        documentSymbolProvider: true,
        documentFormattingProvider: true,
        codeLensProvider: {},
        executeCommandProvider: { commands: [OPEN] },
      },
    }
  })

  // One after the other: a request is about the text of all changes before it.
  let told = Promise.resolve()
  const tell = (document: TextDocument, text: string | null) => {
    told = told.then(async () => {
      const file = await projects.fileOf(document.uri)
      file?.project.setText(file.path, text)
    })
  }
  const fileOf = async (uri: string) => {
    await told
    return await projects.fileOf(uri)
  }
  documents.onDidChangeContent(({ document }) => tell(document, document.getText()))
  documents.onDidClose(({ document }) => tell(document, null))

  connection.onCodeAction(async ({ textDocument: { uri }, range }): Promise<CodeAction[]> => {
    const file = await fileOf(uri)
    if (file === null) return []
    return projects.diagnosticsOf(file).flatMap((item) => {
      const place = rangeOf(item.source, item.span)
      const fix = fixOf(item)
      if (fix === null || place.end.line < range.start.line || range.end.line < place.start.line)
        return []
      const edit = { range: rangeOf(item.source, fix.span), newText: fix.text }
      const kind = CodeActionKind.QuickFix
      return [{ title: fix.title, kind, isPreferred: true, edit: { changes: { [uri]: [edit] } } }]
    })
  })

  const namesOf = (file: OpenFile) => projects.placesOf(file)
  connection.onCompletion(async ({ textDocument: { uri }, position }) => {
    const file = await fileOf(uri)
    return file === null ? null : [...(await completionAt(file, position))]
  })
  connection.onHover(async ({ textDocument: { uri }, position }) => {
    const file = await fileOf(uri)
    return file === null ? null : await hoverAt(file, position)
  })
  connection.onDefinition(async ({ textDocument: { uri }, position }) => {
    const file = await fileOf(uri)
    return file === null ? null : await definitionAt(file, position, namesOf(file))
  })
  connection.onReferences(async ({ textDocument: { uri }, position, context }) => {
    const file = await fileOf(uri)
    if (file === null) return null
    return [...(await referencesAt(file, position, namesOf(file), context.includeDeclaration))]
  })
  connection.onPrepareRename(async ({ textDocument: { uri }, position }) => {
    const file = await fileOf(uri)
    if (file === null) return null
    const { range, model, column } = await renameTarget(file, position)
    return { range, placeholder: column ?? model }
  })
  connection.onRenameRequest(async ({ textDocument: { uri }, position, newName }) => {
    const file = await fileOf(uri)
    if (file === null) return null
    const uriOf = (path: string) => projects.uriOf(file.project, path)
    const target = await renameTarget(file, position)
    const { edit, next } = await rename(file, target, newName, uriOf, canMove)
    if (next !== null)
      tellPerson(connection, MessageType.Info, `to keep the rows of its table: ${next}`)
    return edit
  })
  connection.onDocumentFormatting(({ textDocument: { uri } }) => {
    const document = documents.get(uri)
    if (document === undefined || !uri.endsWith('.sql')) return []
    const text = document.getText()
    const newText = formatHeader(text)
    const end = positionAt({ path: '', text }, text.length)
    return newText === text ? [] : [{ range: { start: { line: 0, character: 0 }, end }, newText }]
  })
  connection.onCodeLens(async ({ textDocument: { uri } }) => {
    const file = await fileOf(uri)
    const understood = (await file?.project.fresh()) ?? null
    return understood === null ? [] : [...lensesOf(understood, file!.path)]
  })
  connection.onDocumentSymbol(async ({ textDocument: { uri } }) => {
    const file = await fileOf(uri)
    const understood = (await file?.project.fresh()) ?? null
    return understood === null ? [] : [...symbolsOf(understood, file!.path)]
  })
  connection.onExecuteCommand(async ({ command, arguments: [url] = [] }) => {
    if (command !== OPEN) return
    const shown = connection.window.showDocument({ uri: String(url), external: true })
    await shown.catch(() => tellPerson(connection, MessageType.Info, String(url)))
  })

  documents.listen(connection)
  connection.listen()
}

/** So that mistakes are shown before a file is opened. */
async function openFolders(projects: OpenProjects, params: InitializeParams): Promise<void> {
  const folders = params.workspaceFolders ?? []
  const root = folders.length === 0 && params.rootUri != null ? [{ uri: params.rootUri }] : folders
  for (const { uri } of root) {
    const directory = fileOfUri(uri)
    if (directory !== null) await projects.find(directory)
  }
}
