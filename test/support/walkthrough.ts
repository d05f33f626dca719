// A page of the documentation, followed as a reader would: its commands in one shell, its files written where it says,
// what it shows compared with what came out. Comments above the blocks, which a reader of the page does not see:
//
//   <!-- project: blank -->     begins in a project made by `eider init --template blank`
//   <!-- run -->                the commands of the next block; `<!-- run: exit 1 -->` where the last one is to fail
//   <!-- file: models/x.sql --> the next block is the content of a file
//   <!-- output -->             the last commands printed these lines, in this order; `…` stands for anything
//   <!-- not run: why -->       a block for reading

import { spawn } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import * as assert from 'uvu/assert'
import { freePort } from './free-port.ts'
import { repository, type Workspace, workspace } from './workspace.ts'

const LONGEST_STEP_MS = 90_000

type Verb = 'run' | 'file' | 'output' | 'not run'

interface Block {
  readonly verb: Verb | null
  readonly argument: string
  readonly text: string
  readonly line: number
}

const BLOCK =
  /(?:<!-- (run|file|output|not run)(?:: (.*?))? -->\n(?:<!-- prettier-ignore -->\n)?\n?)?^```\w*\n([\s\S]*?)^```$/gm

export function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(BLOCK)].map(({ 1: verb, 2: argument = '', 3: text = '', index }) => ({
    verb: (verb as Verb | undefined) ?? null,
    argument,
    text,
    line: page.slice(0, index).split('\n').length,
  }))
}

/** Throws what differs, with the line of the block. */
export async function follow(page: string, name: string): Promise<void> {
  const [, template] = /<!-- project: (\w+) -->/.exec(page) ?? []
  await using space = await workspace({
    'bin/eider': `#!/bin/sh\nexec "${process.execPath}" "${join(repository, 'bin/run.js')}" "$@"\n`,
  })
  await chmod(space.path('bin/eider'), 0o755)
  if (template !== undefined) await space.ok(['init', 'shop', '--template', template])
  await using shell = await openShell(space, template === undefined ? '.' : 'shop')
  let printed = ''
  for (const { verb, argument, text, line } of blocksOf(page)) {
    const place = `${name}:${line}`
    if (verb === 'file') await shell.run(fileCommand(argument, text))
    else if (verb === 'run') {
      const { output, exitCode } = await shell.run(text)
      const expected = Number(/^exit (\d+)$/.exec(argument)?.[1] ?? 0)
      assert.is(exitCode, expected, `${place} ended with ${exitCode}:\n${text}\n${output}`)
      printed = output
    } else if (verb === 'output') compare(text, printed, place)
  }
}

function fileCommand(path: string, text: string): string {
  const dir = path.includes('/') ? `mkdir -p '${path.replace(/\/[^/]*$/, '')}'\n` : ''
  return `${dir}cat > '${path}' <<'END_OF_FILE'\n${text}END_OF_FILE\n`
}

function compare(expected: string, printed: string, place: string): void {
  const lines = printed.split('\n').map(simplified)
  let [from, last] = [0, 0]
  for (const line of expected.split('\n').map(simplified)) {
    if (line === '') continue
    // Answers of curl end without a new line, and what follows them is on the same.
    const pattern = new RegExp(line.split('…').map(escaped).join('.*'))
    // Models are built at the same time, so the order of their lines is chance.
    if (!line.startsWith('built ')) from = last
    const at = lines.findIndex((one, i) => i >= from && pattern.test(one))
    assert.ok(at >= 0, `${place}: no line "${line}" in\n${printed}`)
    last = Math.max(last, at)
  }
}

/** On a terminal there are no times of day at the head of lines. */
const simplified = (line: string) =>
  line
    .replace(/^\d{4}-\d\d-\d\dT[\d:]+Z /, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

const escaped = (text: string) => text.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&')

interface Shell extends AsyncDisposable {
  run(commands: string): Promise<{ readonly output: string; readonly exitCode: number }>
}

async function openShell(space: Workspace, dir: string): Promise<Shell> {
  const ports = new Map<number, number>()
  for (const usual of [8080, 8081, 8090]) ports.set(usual, await freePort())
  const shell = spawn('bash', ['--norc'], {
    cwd: space.path(dir),
    detached: true, // what it leaves in the background ends with it
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      ...process.env,
      PATH: space.path('bin') + delimiter + process.env['PATH'],
      COLLECT_PORT: String(ports.get(8080)),
      COLLECT_ADMIN_PORT: String(ports.get(8081)),
      ODATA_PORT: String(ports.get(8090)),
    },
  })
  let output = ''
  let wake = () => {}
  const onData = (chunk: Buffer) => {
    output += chunk.toString()
    wake()
  }
  shell.stdout.on('data', onData)
  // What it says through two pipes may come after the mark of the end.
  shell.stdin.write('exec 2>&1\n')
  shell.on('exit', () => wake())
  let steps = 0
  return {
    async run(commands) {
      const mark = `end-of-step-${(steps += 1)}`
      output = ''
      const deadline = setTimeout(() => process.kill(-shell.pid!, 'SIGKILL'), LONGEST_STEP_MS)
      shell.stdin.write(
        `{\n${elsewhere(commands, ports)}\n} </dev/null\nprintf '\\n${mark} %s\\n' "$?"\n`,
      )
      const end = new RegExp(`^${mark} (\\d+)$`, 'm')
      while (!end.test(output) && shell.exitCode === null && shell.signalCode === null)
        await new Promise<void>((resolve) => (wake = resolve))
      clearTimeout(deadline)
      const [whole = '', exitCode] = end.exec(output) ?? []
      return { output: home(output.replace(whole, ''), ports), exitCode: Number(exitCode ?? -1) }
    },
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => shell.once('close', resolve))
      process.kill(-shell.pid!, 'SIGTERM')
      shell.stdin.end()
      await ended
    },
  }
}

/** On ports that are free on this machine. */
const elsewhere = (text: string, ports: ReadonlyMap<number, number>) =>
  [...ports].reduce((all, [usual, free]) => all.replaceAll(`:${usual}`, `:${free}`), text)

const home = (text: string, ports: ReadonlyMap<number, number>) =>
  [...ports].reduce((all, [usual, free]) => all.replaceAll(`:${free}`, `:${usual}`), text)
