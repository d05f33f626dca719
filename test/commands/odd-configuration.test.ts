// Projects with mistakes of every sort: in eider.yml and .env, in models, seeds and tests, and in what eider keeps for itself.
// Each command ends with an exit code that is documented, in time and without words of the program's inside; an error
// says where it is; and when all is put right, a run brings every event. Shapes follow from seeds:
// EIDER_CONFIGURATIONS=300 tries so many, with more commands and with services; EIDER_CONFIGURATIONS_SEED begins elsewhere.

import { cpSync, readdirSync, rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { changesOf } from '../support/odd-configuration/shapes.ts'
import { chanceOf } from '../support/odd-configuration/change.ts'
import { FILES } from '../support/odd-configuration/project.ts'
import { modelName } from '../support/model-name.ts'
import { eventBytes, openBuffer } from '../support/open-buffer.ts'
import { type Outcome, type Workspace, workspace } from '../support/workspace.ts'

const ASKED = process.env['EIDER_CONFIGURATIONS']
const SEED = Number(process.env['EIDER_CONFIGURATIONS_SEED'] ?? 1)
const SHAPES = Number(ASKED ?? 40)
/** Without being asked for more: a whole run for some of them. */
const WHOLE_EACH = ASKED === undefined ? 10 : 1
const SERVED_EACH = 10
const EVENTS = 5
const STUCK_MS = 90_000

const COMMANDS = [
  'ls',
  'plan',
  'status',
  'doctor',
  'history',
  'test',
  'docs',
  'flush',
  'contract',
  'maintain',
  'check --json',
  'run --json',
  'plan --json',
  'ls --json',
  'doctor --json',
  'fmt --check',
  'show mart.totals',
  'explain mart.totals',
  'collect status',
  'publish --all',
  'run --full-refresh --drop-history',
  'run --target test',
  'query FROM~mart.totals',
].map((line) => line.split(' ').map((word) => word.replace('~', ' ')))
const ROWS = `SELECT (SELECT count(*) FROM raw.orders)::VARCHAR AS orders,
(SELECT count(DISTINCT id) FROM raw.orders)::VARCHAR AS ids, (SELECT count(*) FROM core.words)::VARCHAR AS words,
(SELECT count(name) FROM mart.totals)::VARCHAR AS totals, (SELECT sum(rate) FROM core.rates)::VARCHAR AS rates`
const ALL = { orders: '10', ids: '10', words: '10', totals: '10', rates: '12.0' }

async function send(space: Workspace, first: number): Promise<void> {
  await using buffer = await openBuffer(space.path('.eider'))
  const ids = Array.from({ length: EVENTS }, (_, i) => first + i)
  const events = ids.map((id) => eventBytes({ id, word: `w${id}`, at: '2026-01-01T00:00:00Z' }))
  await buffer.append(modelName('raw.orders'), events, new Date().toISOString())
}

/** With events in its tables, and as many that wait for a run. */
async function goodProject(): Promise<Workspace> {
  const space = await workspace(FILES)
  await space.ok(['run'])
  await send(space, 1)
  await space.ok(['run'])
  await space.ok(['run'])
  await send(space, 1 + EVENTS)
  return space
}

const INSIDE =
  /^\s+at .*\(?(?:\/|node:|file:)|INTERNAL Error|this is a bug|(?:Type|Range|Reference)Error|\[object Object\]/m

/** null: it ended as it may. */
function wrongIn({ command, exitCode, stdout, stderr }: Outcome): string | null {
  const all = stdout + stderr
  const told = `${command}: exit code ${exitCode}: ${all.slice(0, 3_000)}`
  if (![0, 1, 2, 3].includes(exitCode ?? -1) || INSIDE.test(all)) return told
  const isCompiled = /^eider (?:check|ls|plan|run)\b/.test(command)
  if (
    exitCode !== 0 &&
    isCompiled &&
    !/\.(?:sql|yml|csv|json|duckdb|lock|eider|env)\b|(?:models|target)\b|\bis a (?:file|directory|pipe)/.test(
      all,
    )
  )
    return `${told}: names no file`
  if (!command.includes('--json')) return null
  const isJson = (line: string) => {
    try {
      return line === '' || JSON.parse(line) !== undefined
    } catch {
      return false
    }
  }
  return stdout.split('\n').every(isJson) ? null : `${told}: is no JSON`
}

class Shape {
  readonly wrong: string[] = []
  readonly #space: Workspace

  constructor(space: Workspace) {
    this.#space = space
  }

  async ask(...args: readonly string[]): Promise<Outcome> {
    const abort = new AbortController()
    const stuck = wait(STUCK_MS, null, { signal: abort.signal }).catch(() => null)
    const outcome = await Promise.race([this.#space.eider(args), stuck])
    abort.abort()
    if (outcome === null) throw new Error(`eider ${args.join(' ')} is stuck`)
    const found = wrongIn(outcome)
    if (found !== null) this.wrong.push(found)
    return outcome
  }

  /** A service that runs while it becomes bad lives; one that is started then says why it does not, or lives. */
  async serve(args: readonly string[], change: () => void): Promise<void> {
    const running = await this.#space.start(args)
    change()
    await wait(500)
    const { status } = await fetch(new URL('/health', running.url))
    const code = await running.stop()
    if (![200, 503].includes(status) || code !== 0)
      this.wrong.push(
        `eider ${args.join(' ')}: health ${status}, exit code ${code}: ${running.stderr()}`,
      )
    const again = await this.#space.start(args).catch((error: Error) => error)
    const said = again instanceof Error ? again.message : again.stderr()
    const ended =
      again instanceof Error
        ? Number(/^ended with (\d+)/.exec(said)?.[1] ?? NaN)
        : await again.stop()
    if (![0, 1, 2, 3].includes(ended ?? -1) || INSIDE.test(said))
      this.wrong.push(said.slice(0, 3_000))
  }
}

function putRight({ dir }: Workspace, { dir: good }: Workspace): void {
  for (const name of readdirSync(dir))
    if (name !== '.eider') rmSync(`${dir}/${name}`, { recursive: true, force: true })
  for (const name of Object.keys(FILES)) cpSync(`${good}/${name}`, `${dir}/${name}`)
}

async function tryShape(seed: number, good: Workspace): Promise<void> {
  const { below, pick } = chanceOf(seed * 7919)
  const changes = changesOf(seed)
  await using space = await workspace()
  cpSync(good.dir, space.dir, { recursive: true })
  const shape = new Shape(space)
  const undo: (() => void)[] = []
  const change = () => undo.push(...changes.map(({ apply }) => apply(space.dir)))
  if (ASKED !== undefined && seed % SERVED_EACH === 0)
    await shape.serve(below(2) === 0 ? ['serve'] : ['collect', 'daemon'], change)
  else change()
  await shape.ask('check')
  if (seed % WHOLE_EACH === 0) {
    if (ASKED !== undefined) for (let i = 0; i < 2; i++) await shape.ask(...pick(COMMANDS))
    await shape.ask('run')
    putRight(space, good)
    // The error has named what of the state is to be moved away; what none has named does not matter.
    if ((await shape.ask('run')).exitCode !== 0) {
      for (const one of undo) one()
      const { exitCode, stdout, stderr } = await shape.ask('run')
      if (exitCode !== 0)
        shape.wrong.push(`lost: no run after it was put right: ${stdout}${stderr}`)
    }
    const { stdout } = await shape.ask('query', ROWS, '--json')
    if (stdout.trim() !== JSON.stringify(ALL)) shape.wrong.push(`lost: ${stdout}`)
  }
  const what = changes.map((one) => one.what).join('; ')
  if (shape.wrong.length > 0) throw new Error([`seed ${seed}: ${what}`, ...shape.wrong].join('\n'))
}

test(`${SHAPES} shapes of configuration (seed ${SEED})`, async () => {
  await using good = await goodProject()
  const wrong: string[] = []
  for (let seed = SEED; seed < SEED + SHAPES; seed++)
    await tryShape(seed, good).catch((error: Error) => wrong.push(error.message))
  if (ASKED !== undefined) process.stdout.write(`${SHAPES} shapes\n`)
  assert.is(wrong.join('\n\n'), '')
})

test.run()
