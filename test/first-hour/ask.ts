// Asks eider about a mistake and gives its answer as text.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { showDiagnostic } from '../../src/cli/show-diagnostic.ts'
import { showFailure } from '../../src/cli/show-failure.ts'
import { compile } from '../../src/compiler/compile.ts'
import { DiagnosticsError } from '../../src/core/diagnostics.ts'
import { loadProject } from '../../src/project/load.ts'
import { repository, type Running, type Workspace, workspace } from '../support/workspace.ts'
import type { Ask, Mistake } from './mistake.ts'

export interface Answer {
  /** Lines without indentation; no blank ones. */
  readonly lines: readonly string[]
  readonly exitCode: number | null
}

type Files = Readonly<Record<string, string | Uint8Array>>

const template = join(repository, 'templates', 'events')
const templateFiles: Files = {
  ...Object.fromEntries(
    readdirSync(template, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:sql|csv)$/.test(path))
      .map((path) => [path, readFileSync(join(template, path), 'utf8')]),
  ),
  'eider.yml': 'name: shop\n',
}

interface Started {
  readonly space: Workspace
  readonly running: Running
}

/** Answers mistakes; what is started for several of them is started once. */
export class Asker implements AsyncDisposable {
  #service: Promise<Started> | null = null
  #daemon: Promise<Started> | null = null

  async answer(mistake: Mistake): Promise<Answer> {
    const { ask = 'compile' } = mistake
    if (ask === 'compile') return compileAnswer(filesOf(mistake))
    if ('eider' in ask) return commandAnswer(filesOf(mistake), ask)
    if ('get' in ask) {
      const { running } = await (this.#service ??= startService())
      return httpAnswer(`${running.url}${ask.get}`, { headers: ask.headers ?? {} })
    }
    const { running } = await (this.#daemon ??= startDaemon())
    const headers = ask.headers ?? { 'Content-Type': 'application/json' }
    return httpAnswer(`${running.url}${ask.post}`, { method: 'POST', body: ask.body, headers })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const started of [this.#service, this.#daemon])
      await (await started)?.space[Symbol.asyncDispose]()
  }
}

function filesOf({ files = {} }: Mistake): Files {
  const all = { ...templateFiles, ...files }
  return Object.fromEntries(Object.entries(all).filter(([, text]) => text !== null)) as Files
}

/** In this process: starting the command line for each row takes ten times as long. */
async function compileAnswer(files: Files): Promise<Answer> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-first-hour-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(dir, path)), { recursive: true })
      await writeFile(join(dir, path), text)
    }
    const project = await loadProject(dir, { env: {}, flags: {} })
    const { warnings } = await compile(project.files, { dir })
    return { lines: warnings.flatMap((item) => linesOf(showDiagnostic(item))), exitCode: 0 }
  } catch (error) {
    if (error instanceof DiagnosticsError)
      return { lines: error.diagnostics.flatMap((d) => linesOf(showDiagnostic(d))), exitCode: 1 }
    const text = showFailure(error, { verbose: false })
    if (text.startsWith('error: this is a bug')) throw error
    return { lines: linesOf(text.replaceAll(dir, '<project>')), exitCode: null }
  } finally {
    await rm(dir, { recursive: true })
  }
}

async function commandAnswer(
  files: Files,
  { eider, after = [] }: Extract<Ask, { eider: unknown }>,
): Promise<Answer> {
  await using space = await workspaceOf(files)
  for (const earlier of after) await space.ok(earlier)
  const { stderr, stdout, exitCode } = await space.eider(eider)
  return { lines: linesOf((stderr + stdout).replaceAll(space.dir, '<project>')), exitCode }
}

async function workspaceOf(files: Files): Promise<Workspace> {
  const space = await workspace()
  for (const [path, text] of Object.entries(files)) await space.write(path, text)
  return space
}

async function httpAnswer(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, init)
  const text = await response.text()
  const { error } = (text.startsWith('{') ? JSON.parse(text) : {}) as {
    error?: { readonly message: string }
  }
  return { lines: linesOf(`${response.status} ${error?.message ?? text}`), exitCode: null }
}

async function startService(): Promise<Started> {
  const space = await workspaceOf(templateFiles)
  const running = await space.start(['collect', 'daemon', '--port', '0', '--admin-port', '0'])
  const body = await readFile(join(template, 'events.ndjson'))
  const headers = { 'Content-Type': 'application/x-ndjson' }
  await fetch(`${running.url}/collect/raw/orders/batch`, { method: 'POST', body, headers })
  await running.stop()
  await space.ok(['run'])
  return { space, running: await space.start(['serve', '--port', '0', '--quiet']) }
}

async function startDaemon(): Promise<Started> {
  const space = await workspaceOf(templateFiles)
  const args = ['collect', 'daemon', '--port', '0', '--admin-port', '0', '--quiet']
  return { space, running: await space.start(args) }
}

/** Without excerpts of source lines and their carets. */
const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^ {2}[\d ]+\|/.test(line))
    .map((line) => line.trim())
