// The language server: what an editor asks, over standard input and output. Texts are compiled as they are in the editor,
// saved or not; nothing is built and no table is read.

import {
  type CancellationToken,
  type CodeAction,
  CodeActionKind,
  type Connection,
  createConnection,
  type InitializeParams,
  type InitializeResult,
  LSPErrorCodes,
  MessageType,
  ProposedFeatures,
  type Range,
  ResponseError,
  type ServerCapabilities,
  TextDocuments,
  TextDocumentSyncKind,
  type TextEdit,
} from 'vscode-languageserver/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import type { Diagnostic } from '../core/diagnostics.ts'
import type { LoadOptions } from '../project/load.ts'
import { definitionAt, hoverAt, referencesAt } from './answers.ts'
import { completionAt } from './completion.ts'
import type { LastCompile } from './edited-project.ts'
import { fixOf } from './fixes.ts'
import { formatHeader } from './format-header.ts'
import { lensesOf, OPEN, symbolsOf } from './lens.ts'
import { fileOfUri, type EditorFile, OpenProjects, tellPerson } from './open-projects.ts'
import { positionAt, lspRange } from './positions.ts'
import { rename, renameTarget } from './rename.ts'

/** The library ends the process, as the protocol wants it: with 0 after `shutdown`, else with 1. */
export function serveEditor({ version, ...load }: LoadOptions & { readonly version: string }) {
  const connection = createConnection(ProposedFeatures.all, process.stdin, process.stdout)
  const projects = new OpenProjects(connection, load)
  const documents = new TextDocuments(TextDocument)
  let canMove = false
  connection.onInitialize((params): InitializeResult => {
    const { documentChanges, resourceOperations } =
      params.capabilities.workspace?.workspaceEdit ?? {}
    canMove = documentChanges === true && resourceOperations?.includes('rename') === true
    void openFolders(projects, params)
    return { serverInfo: { name: 'eider', version }, capabilities }
  })

  // One after the other: a request is about the text of all changes before it.
  let told = Promise.resolve()
  const tell = (document: TextDocument, text: string | null) => {
    told = told.then(async () => {
      const file = await projects.fileOf(document.uri)
      file?.project.setText(file.path, text)
    })
  }
  documents.onDidChangeContent(({ document }) => tell(document, document.getText()))
  documents.onDidClose(({ document }) => tell(document, null))

  const inFile: InFile = (otherwise, answer) =>
    cancellable(async (params) => {
      await told
      const file = await projects.fileOf(params.textDocument.uri)
      return file === null ? otherwise : await answer(file, params)
    })
  answerRequests(connection, projects, inFile)
  answerRenames(connection, projects, inFile, () => canMove)
  connection.onDocumentFormatting(({ textDocument: { uri } }) => formatEdits(documents.get(uri)))
  connection.onExecuteCommand(async ({ command, arguments: [url] = [] }) => {
    if (command !== OPEN) return
    const shown = connection.window.showDocument({ uri: String(url), external: true })
    await shown.catch(() => tellPerson(connection, MessageType.Info, String(url)))
  })

  documents.listen(connection)
  connection.listen()
}

const capabilities: ServerCapabilities = {
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
}

interface FileParams {
  readonly textDocument: { readonly uri: string }
}

/** Answers a request about a file of a project; `otherwise` is the answer for any other file. */
type InFile = <P extends FileParams, R, N>(
  otherwise: N,
  answer: (file: EditorFile, params: P) => Promise<R>,
) => (params: P, token: CancellationToken) => Promise<R | N>

function answerRequests(connection: Connection, projects: OpenProjects, inFile: InFile): void {
  const namesOf = (file: EditorFile) => projects.placesOf(file)
  const inModel = <R>(answer: (understood: LastCompile, path: string) => R[]) =>
    inFile<FileParams, R[], R[]>([], async ({ project, path }) => {
      const understood = await project.fresh()
      return understood === null ? [] : answer(understood, path)
    })
  connection.onCodeAction(
    inFile([], async (file, { range, textDocument: { uri } }) =>
      projects.diagnosticsOf(file).flatMap((item) => quickFixes(item, range, uri)),
    ),
  )
  connection.onCompletion(inFile(null, (file, { position }) => completionAt(file, position)))
  connection.onHover(inFile(null, (file, { position }) => hoverAt(file, position)))
  connection.onDefinition(
    inFile(null, (file, { position }) => definitionAt(file, position, namesOf(file))),
  )
  connection.onReferences(
    inFile(null, (file, { position, context }) =>
      referencesAt(file, position, namesOf(file), context.includeDeclaration),
    ),
  )
  connection.onCodeLens(inModel(lensesOf))
  connection.onDocumentSymbol(inModel(symbolsOf))
}

function answerRenames(
  connection: Connection,
  projects: OpenProjects,
  inFile: InFile,
  canMove: () => boolean,
): void {
  connection.onPrepareRename(
    inFile(null, async (file, { position }) => {
      const { range, model, column } = await renameTarget(file, position)
      return { range, placeholder: column ?? model }
    }),
  )
  connection.onRenameRequest(
    inFile(null, async (file, { position, newName }) => {
      const uriOf = (path: string) => projects.uriOf(file.project, path)
      const target = await renameTarget(file, position)
      const { edit, next } = await rename(file, target, newName, uriOf, canMove())
      if (next !== null)
        tellPerson(connection, MessageType.Info, `to keep the rows of its table: ${next}`)
      return edit
    }),
  )
}

function quickFixes(item: Diagnostic, range: Range, uri: string): readonly CodeAction[] {
  const place = lspRange(item.source, item.span)
  const fix = fixOf(item)
  if (fix === null || place.end.line < range.start.line || range.end.line < place.start.line)
    return []
  const edit = { range: lspRange(item.source, fix.span), newText: fix.text }
  const kind = CodeActionKind.QuickFix
  return [{ title: fix.title, kind, isPreferred: true, edit: { changes: { [uri]: [edit] } } }]
}

function formatEdits(document: TextDocument | undefined): TextEdit[] {
  if (document?.uri.endsWith('.sql') !== true) return []
  const text = document.getText()
  const newText = formatHeader(text)
  const end = positionAt({ path: '', text }, text.length)
  return newText === text ? [] : [{ range: { start: { line: 0, character: 0 }, end }, newText }]
}

/** A request that the editor gives up is answered at once; what was compiled for it is good for the next one. */
function cancellable<P, R>(
  answer: (params: P) => Promise<R>,
): (params: P, token: CancellationToken) => Promise<R> {
  return async (params, token) => {
    // A token that was cancelled before tells nobody.
    if (token.isCancellationRequested) throw givenUp()
    return await new Promise((resolve, reject) => {
      const waiting = token.onCancellationRequested(() => reject(givenUp()))
      answer(params)
        .then(resolve, reject)
        .finally(() => waiting.dispose())
    })
  }
}

const givenUp = () => new ResponseError(LSPErrorCodes.RequestCancelled, 'given up by the editor')

/** So that mistakes are shown before a file is opened. */
async function openFolders(projects: OpenProjects, params: InitializeParams): Promise<void> {
  const folders = params.workspaceFolders ?? []
  const root = folders.length === 0 && params.rootUri != null ? [{ uri: params.rootUri }] : folders
  for (const { uri } of root) {
    const directory = fileOfUri(uri)
    if (directory !== null) await projects.find(directory)
  }
}
