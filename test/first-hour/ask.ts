// Asks eider about a mistake and gives its answer as text.

import { chmod, chown, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { showDiagnostic } from '../../src/cli/show-diagnostic.ts'
import { showFailure } from '../../src/cli/show-failure.ts'
import { compile } from '../../src/compiler/compile.ts'
import { DiagnosticsError } from '../../src/core/diagnostics.ts'
import { loadProject } from '../../src/project/load.ts'
import { repository, type Running, type Workspace, workspace } from '../support/workspace.ts'
import { linesOf } from './lines-of.ts'
import type { Changes, CommandAsk, DaemonAsk, Mistake, ServiceAsk, Step } from './mistake.ts'

interface Answer {
  /** Lines without indentation; no blank ones. */
  readonly lines: readonly string[]
  readonly exitCode: number | null
}

const template = join(repository, 'templates', 'events')
const templateFiles: Changes = {
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
  readonly #started = new Map<string, Promise<Started>>()

  async answer(mistake: Mistake): Promise<Answer> {
    const { ask = 'compile' } = mistake
    if (ask === 'compile') return compileAnswer(filesOf(mistake))
    if ('eider' in ask) return commandAnswer(filesOf(mistake), ask)
    const kind = 'get' in ask ? 'service' : 'daemon'
    const { running } = await this.#running(kind, ask.env ?? {})
    return httpAnswer(running, ask)
  }

  #running(kind: 'service' | 'daemon', env: Readonly<Record<string, string>>): Promise<Started> {
    const key = JSON.stringify([kind, env])
    const start = kind === 'service' ? startService : startDaemon
    const started = this.#started.get(key) ?? start(env)
    this.#started.set(key, started)
    return started
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const started of this.#started.values()) await (await started).space[Symbol.asyncDispose]()
  }
}

function filesOf({ files = {} }: Mistake): Changes {
  const all = { ...templateFiles, ...files }
  return Object.fromEntries(Object.entries(all).filter(([, text]) => text !== null))
}

/** In this process: starting the command line for each row takes ten times as long. */
async function compileAnswer(files: Changes): Promise<Answer> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-first-hour-'))
  try {
    await change(dir, files)
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

async function change(dir: string, files: Changes): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    if (text === null) await rm(join(dir, path), { recursive: true })
    else {
      await mkdir(dirname(join(dir, path)), { recursive: true })
      await writeFile(join(dir, path), text)
    }
  }
}

const isCommand = (step: Step): step is readonly string[] => Array.isArray(step)

async function commandAnswer(
  files: Changes,
  { eider, after = [], env = {}, writeProtected = [], unreadable = [] }: CommandAsk,
): Promise<Answer> {
  await using space = await workspace()
  await change(space.dir, files)
  for (const step of after)
    if (isCommand(step)) await space.ok(step, { env })
    else await change(space.dir, step)
  const modes = new Map([
    ...writeProtected.map((path) => [path, 0o555] as const),
    ...unreadable.map((path) => [path, 0o000] as const),
  ])
  await using _ = await protect(space, modes)
  const user = modes.size === 0 ? null : nobody
  const home = user === null ? {} : { HOME: space.dir } // where that of root cannot be read
  const { stderr, stdout, exitCode } = await space.eider(eider, {
    env: { ...env, ...home },
    ...user,
  })
  return { lines: linesOf((stderr + stdout).replaceAll(space.dir, '<project>')), exitCode }
}

/** Root may write everything, so tests that run as root ask as nobody, who owns the project meanwhile. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null

async function protect(
  space: Workspace,
  modes: ReadonlyMap<string, number>,
): Promise<AsyncDisposable> {
  if (modes.size > 0 && nobody !== null)
    for (const path of ['', ...(await readdir(space.dir, { recursive: true }))])
      await chown(space.path(path), nobody.uid, nobody.gid)
  for (const [path, mode] of modes) await chmod(space.path(path), mode)
  return {
    async [Symbol.asyncDispose]() {
      for (const path of modes.keys()) await chmod(space.path(path), 0o755)
    },
  }
}

async function httpAnswer(running: Running, ask: ServiceAsk | DaemonAsk): Promise<Answer> {
  const isPost = 'post' in ask
  const root = new URL(running.url)
  const path = isPost ? ask.post : ask.get
  const url = path.startsWith('//') ? `${root.origin}${path.slice(1)}` : `${running.url}${path}`
  const headers = ask.headers ?? (isPost ? { 'Content-Type': 'application/json' } : {})
  const method = ask.method ?? (isPost ? 'POST' : 'GET')
  const { status, text } = await send(url, { method, headers, body: isPost ? ask.body : undefined })
  const { error } = (text.startsWith('{') ? JSON.parse(text) : {}) as {
    error?: { readonly message: string }
  }
  const said = (error?.message ?? text).replaceAll(root.host, '<host>')
  return { lines: linesOf(`${status} ${said}`), exitCode: null }
}

interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
}

/** By node:http, because fetch() sets the header Host itself. */
function send(
  url: string,
  { method, headers, body }: Sent,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      buffer(response).then(
        (bytes) => resolve({ status: response.statusCode!, text: bytes.toString() }),
        reject,
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function startService(env: Readonly<Record<string, string>>): Promise<Started> {
  const space = await workspace()
  await change(space.dir, templateFiles)
  const running = await space.start(['collect', 'daemon', '--port', '0', '--admin-port', '0'])
  const body = await readFile(join(template, 'events.ndjson'))
  const headers = { 'Content-Type': 'application/x-ndjson' }
  await fetch(`${running.url}/collect/raw/orders/batch`, { method: 'POST', body, headers })
  await running.stop()
  await space.ok(['run'])
  return { space, running: await space.start(['serve', '--port', '0', '--quiet'], { env }) }
}

async function startDaemon(env: Readonly<Record<string, string>>): Promise<Started> {
  const space = await workspace()
  await change(space.dir, templateFiles)
  const args = ['collect', 'daemon', '--port', '0', '--admin-port', '0', '--quiet']
  return { space, running: await space.start(args, { env }) }
}
