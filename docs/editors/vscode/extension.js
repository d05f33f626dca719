// A client of `eider lsp`: starts it for the models and the settings of the workspace, and leaves the rest to it.

const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { commands, window, workspace } = require('vscode')
const { LanguageClient, TransportKind } = require('vscode-languageclient/node')

let client

async function activate(context) {
  const restart = async () => {
    await client?.stop()
    client = start()
    await client.start().catch((error) => window.showErrorMessage(`eider lsp: ${error.message}`))
  }
  context.subscriptions.push(
    commands.registerCommand('eider.restart', restart),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('eider')) void restart()
    }),
  )
  await restart()
}

function start() {
  const settings = workspace.getConfiguration('eider')
  const command = settings.get('path') || installed() || 'eider'
  const args = ['lsp', ...settings.get('arguments', [])]
  // npm writes a script for the shell of Windows.
  const shell = process.platform === 'win32'
  return new LanguageClient(
    'eider',
    'eider',
    { command, args, transport: TransportKind.stdio, options: { shell } },
    {
      documentSelector: [
        { scheme: 'file', language: 'sql' },
        { scheme: 'file', pattern: '**/eider.yml' },
      ],
    },
  )
}

/** Of the workspace, so that editor and project have one version. */
function installed() {
  const folders = workspace.workspaceFolders ?? []
  return folders
    .map(({ uri }) => join(uri.fsPath, 'node_modules', '.bin', 'eider'))
    .find((file) => existsSync(file))
}

async function deactivate() {
  await client?.stop()
}

module.exports = { activate, deactivate }
