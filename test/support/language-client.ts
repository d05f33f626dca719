// An editor as the language server sees one: `eider lsp` as a process, and a client library on its standard input and
// output.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  createProtocolConnection,
  type Diagnostic,
  type InitializeResult,
  type Position,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver-protocol/node'
import { repository } from './workspace.ts'

const TIMEOUT_MS = 20_000

export class LanguageClient implements AsyncDisposable {
  readonly process: ChildProcess
  readonly connection: ProtocolConnection
  readonly #dir: string
  readonly #diagnostics = new Map<string, readonly Diagnostic[]>()
  readonly #texts = new Map<string, string>()
  #published = 0
  #wake: () => void = () => {}
  #initialized: InitializeResult | null = null

  private constructor(dir: string, args: readonly string[]) {
    this.#dir = dir
    const binary = join(repository, 'bin', 'run.js')
    this.process = spawn(process.execPath, [binary, 'lsp', ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const reader = new StreamMessageReader(this.process.stdout!)
    const writer = new StreamMessageWriter(this.process.stdin!)
    this.connection = createProtocolConnection(reader, writer)
    this.connection.onNotification(
      'textDocument/publishDiagnostics',
      ({ uri, diagnostics }: PublishDiagnosticsParams) => {
        this.#published++
        this.#diagnostics.set(uri, diagnostics)
        this.#wake()
      },
    )
    this.connection.listen()
  }

  static start(dir: string, ...args: readonly string[]): Promise<LanguageClient> {
    return LanguageClient.startFor(process.pid, dir, args)
  }

  /** `processId` is the process that the server is told to be the editor. */
  static async startFor(
    processId: number,
    dir: string,
    args: readonly string[] = [],
  ): Promise<LanguageClient> {
    const client = new LanguageClient(dir, args)
    client.#initialized = await client.connection.sendRequest('initialize', {
      processId,
      rootUri: pathToFileURL(dir).href,
      capabilities: {
        workspace: {
          workspaceEdit: { documentChanges: true, resourceOperations: ['rename'] },
        },
      },
    })
    await client.connection.sendNotification('initialized', {})
    return client
  }

  get initialized(): InitializeResult {
    return this.#initialized!
  }

  /** How often diagnostics of a file have come. */
  get published(): number {
    return this.#published
  }

  uri(path: string): string {
    return pathToFileURL(join(this.#dir, path)).href
  }

  async open(path: string, text: string): Promise<void> {
    this.#texts.set(path, text)
    const languageId = path.endsWith('.sql') ? 'sql' : 'yaml'
    const textDocument = { uri: this.uri(path), languageId, version: 1, text }
    await this.connection.sendNotification('textDocument/didOpen', { textDocument })
  }

  async change(path: string, text: string): Promise<void> {
    this.#texts.set(path, text)
    await this.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri: this.uri(path), version: 2 },
      contentChanges: [{ text }],
    })
  }

  /** Where `|` stands in `at`, which is a part of the open text. */
  position(path: string, at: string): Position {
    const text = this.#texts.get(path)!
    const [before = '', after = ''] = at.split('|')
    const offset = text.indexOf(before + after) + before.length
    if (offset < before.length) throw new Error(`${path} has no ${at}`)
    const lines = text.slice(0, offset).split('\n')
    return { line: lines.length - 1, character: lines.at(-1)!.length }
  }

  /** A request about the place of `|`. */
  async ask<T>(method: string, path: string, at: string, more: object = {}): Promise<T> {
    const textDocument = { uri: this.uri(path) }
    const position = this.position(path, at)
    return await this.connection.sendRequest(`textDocument/${method}`, {
      textDocument,
      position,
      ...more,
    })
  }

  /** Waits until the diagnostics of a file are as wanted; each as `line:character code`. */
  async diagnostics(path: string, ...wanted: readonly string[]): Promise<readonly Diagnostic[]> {
    const deadline = Date.now() + TIMEOUT_MS
    for (;;) {
      const found = this.#diagnostics.get(this.uri(path)) ?? null
      const shown = (found ?? []).map(
        ({ range: { start }, code }) => `${start.line + 1}:${start.character + 1} ${code}`,
      )
      if (found !== null && shown.join() === wanted.join()) return found
      if (Date.now() > deadline)
        throw new Error(`${path}: ${found === null ? 'none' : shown.join()}`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        setTimeout(resolve, 1000).unref()
      })
    }
  }

  /** The exit code of the server. */
  async stop(): Promise<number | null> {
    const ended = once(this.process, 'exit')
    await this.connection.sendRequest('shutdown')
    await this.connection.sendNotification('exit')
    const [exitCode] = (await ended) as [number | null]
    return exitCode
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.connection.dispose()
    if (this.process.exitCode !== null || this.process.signalCode !== null) return
    const ended = once(this.process, 'exit')
    this.process.kill('SIGKILL')
    await ended
  }
}
