import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { UpEvent, UpState } from '../../src/core/report/up.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import { runOnce } from '../../src/wiring/up/programs.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'

const program = { command: process.execPath, args: ['-e', '0'], cwd: '.', env: process.env }

test('the state file knows of each event when it is told', async () => {
  await using dir = await temporaryDirectory()
  const told = new Map<UpEvent['event'], UpState>()
  const supervisor = await Supervisor.start({
    project: 'shop',
    target: null,
    stateDir: dir.path,
    services: [],
    runs: [runOnce],
    runNow: true,
    lateAfterMs: null,
    readStates: () => Promise.resolve(null),
    notify: { on: [], ways: new Map() },
    programOf: () => program,
    runProgram: () => program,
    onEvent: ({ event }) =>
      told.set(event, JSON.parse(readFileSync(join(dir.path, 'up.json'), 'utf8')) as UpState),
    onLog: () => {},
    onProblem: () => {},
  })
  await supervisor.work(until(() => told.has('scheduled-run-finished')).then(() => {}))
  assert.equal([...told.keys()], ['up-ready', 'scheduled-run-started', 'scheduled-run-finished'])
  assert.is(told.get('scheduled-run-finished')!.runs[0]!.last?.name, 'run')
})

test.run()
