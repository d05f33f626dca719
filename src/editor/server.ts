// The language server: what an editor asks, over standard input and output. Texts are compiled as they are in the editor,
// saved or not; nothing is built and no table is read.

import { fileURLToPath } from 'node:url'
import {
  type CodeAction,
  CodeActionKind,
  createConnection,
  type InitializeParams,
  type InitializeResult,
  ProposedFeatures,
  TextDocuments,
  TextDocumentSyncKind,
} from 'vscode-languageserver/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import type { LoadOptions } from '../project/load.ts'
import { fixOf } from './fixes.ts'
import { OpenProjects } from './open-projects.ts'
import { rangeOf } from './places.ts'

export interface ServeEditorOptions extends LoadOptions {
  readonly version: string
}

/** The library ends the process, as the protocol wants it: with 0 after `shutdown`, else with 1. */
export function serveEditor({ version, ...load }: ServeEditorOptions): void {
  const connection = createConnection(ProposedFeatures.all, process.stdin, process.stdout)
  const projects = new OpenProjects(connection, load)
  const documents = new TextDocuments(TextDocument)

  connection.onInitialize((params): InitializeResult => {
    void openFolders(projects, params)
    return {
      serverInfo: { name: 'eider', version },
      capabilities: {
        textDocumentSync: TextDocumentSyncKind.Incremental,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
      },
    }
  })

  const tell = async (document: TextDocument, text: string | null) => {
    const file = await projects.fileOf(document.uri)
    file?.project.setText(file.path, text)
  }
  documents.onDidChangeContent(({ document }) => void tell(document, document.getText()))
  documents.onDidClose(({ document }) => void tell(document, null))

  connection.onCodeAction(async ({ textDocument: { uri }, range }): Promise<CodeAction[]> => {
    const file = await projects.fileOf(uri)
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

  documents.listen(connection)
  connection.listen()
}

/** So that mistakes are shown before a file is opened. */
async function openFolders(projects: OpenProjects, params: InitializeParams): Promise<void> {
  const folders = params.workspaceFolders ?? []
  const root = folders.length === 0 && params.rootUri != null ? [{ uri: params.rootUri }] : folders
  for (const { uri } of root) if (uri.startsWith('file:')) await projects.find(fileURLToPath(uri))
}
