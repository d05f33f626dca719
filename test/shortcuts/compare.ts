// Each shortcut of ARCHITECTURE.md can be taken out by the line that its row names: the types of what is left are right,
// nothing of the shortcut is in the program any more, and every answer of a long scenario is the same: one of
// runs, or one of the services.

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { type Shortcut, shortcuts } from '../support/architecture-pages.ts'
import { COMMANDS_VARIABLE } from '../support/command-here.ts'
import { testsSharing } from '../support/shared.ts'
import { repository } from '../support/workspace.ts'
import { CORES_VARIABLE } from '../which-run.ts'
import type { Answers } from './answers-child.ts'
import { type Copy, copyProgram, runThere } from './copies.ts'

interface Program extends Answers {
  /** Those of a copy; null: it is the built program. */
  readonly modules: Copy['modules'] | null
}

type Scenario = 'runs' | 'services'

/** Those that leave a file or a metric. */
const TRACES: Readonly<Record<Scenario, readonly string[]>> = {
  runs: ['compiler/cache', 'pipeline/idle'],
  services: ['odata/engine/rows', 'odata/http/answer-cache'],
}
/** So many answers there are at least, or else a scenario has ended early. */
const LEAST: Readonly<Record<Scenario, number>> = { runs: 170, services: 500 }
/** Nothing is noted of a project without an identity, or of a store that has no stamp. */
const GOES_WITH: Readonly<Record<string, string>> = {
  'compiler/cache': 'pipeline/idle',
  'store/files/idle': 'pipeline/idle',
}
const WHOLE = 'the whole program'
const AT_ONCE = 2
const child = fileURLToPath(new URL('./answers-child.js', import.meta.url))

const scenarioOf = ({ name }: Shortcut): Scenario =>
  /^(?:compiler|pipeline|store)\//.test(name) ? 'runs' : 'services'

export function testShortcuts(scenario: Scenario): void {
  const ours = shortcuts.filter((shortcut) => scenarioOf(shortcut) === scenario)
  const testBeside = testsSharing(() => openPrograms(scenario, ours))

  testBeside('the whole program uses its shortcuts', async ({ programOf }) => {
    const { traces } = await programOf(WHOLE)
    assert.equal(traces.toSorted(), TRACES[scenario])
  })

  for (const { name, entry } of ours)
    testBeside(`the same answers without ${name}`, async ({ programOf }) => {
      const program = await programOf(name)
      assert.not.ok(program.modules!.has(entry), `${entry} is still in the program`)
      const gone = [name, GOES_WITH[name]]
      const left = TRACES[scenario].filter((trace) => !gone.includes(trace))
      assert.equal(program.traces.toSorted(), left)
      const { answers } = await programOf(WHOLE)
      assert.ok(answers.length >= LEAST[scenario], `${answers.length} answers`)
      requireSame(program.answers, answers)
    })
}

interface Programs extends AsyncDisposable {
  readonly programOf: (name: string) => Promise<Program>
}

/** All begin at once, but only so many work at a time. */
async function openPrograms(scenario: Scenario, ours: readonly Shortcut[]): Promise<Programs> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-without-'))
  const queue: (() => Promise<unknown>)[] = []
  const programs = new Map<string, Promise<Program>>()
  for (const without of [null, ...ours]) {
    const { promise, resolve, reject } = settleLater<Program>()
    promise.catch(() => {}) // its test gets the error
    programs.set(without?.name ?? WHOLE, promise)
    const place = join(dir, String(programs.size))
    queue.push(() => openProgram(place, scenario, without).then(resolve, reject))
  }
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await next()
  })
  return {
    programOf: (name) => programs.get(name)!,
    async [Symbol.asyncDispose]() {
      queue.length = 0
      await Promise.all(workers)
      await rm(dir, { recursive: true, force: true })
    },
  }
}

function settleLater<T>() {
  let [resolve, reject] = [(_value: T) => {}, (_error: unknown) => {}]
  const promise = new Promise<T>((onValue, onError) => ([resolve, reject] = [onValue, onError]))
  return { promise, resolve, reject }
}

async function openProgram(
  dir: string,
  scenario: Scenario,
  without: Shortcut | null,
): Promise<Program> {
  await mkdir(dir)
  // The whole program is there already: to bundle it once more takes half as long as a scenario.
  const built = { binary: join(repository, 'bin/run.js'), modules: null }
  const copy = without === null ? built : await copyProgram(dir, without)
  const args = [child, scenario, ...(without === null ? [] : [without.name])]
  const env = { EIDER_BINARY: copy.binary, [COMMANDS_VARIABLE]: 'here', [CORES_VARIABLE]: '1' }
  const output = await runThere(dir, process.execPath, args, env)
  return { modules: copy.modules, ...(JSON.parse(output) as Answers) }
}

function requireSame(ours: Answers['answers'], theirs: Answers['answers']): void {
  for (const [index, [asked, answer]] of theirs.entries()) {
    assert.is(ours[index]?.[0], asked)
    assert.is(ours[index]?.[1], answer, asked)
  }
  assert.is(ours.length, theirs.length)
}
