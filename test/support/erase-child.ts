// An `eider erase` that kills its process with SIGKILL right after a step. Started by killed-erase.test.ts:
//
//   node erase-child.js <directory of the project> <model> <condition> <step>
//
// Without a step it lives on, and says on stdout when it begins to erase: random-erase-kills.test.ts kills it later.

import { loadProject } from '../../src/project/load.ts'
import { eraseRows } from '../../src/pipeline/erase/erase.ts'
import { openErasing } from '../../src/wiring/erasing.ts'
import { silentLogger } from './silent-logger.ts'

const [dir = '', model = '', condition = '', step = ''] = process.argv.slice(2)
process.chdir(dir)
const project = await loadProject(dir, { env: process.env, flags: {}, target: null })
const request = await openErasing(
  project,
  { model, condition },
  {
    all: false,
    unreadable: false,
    rewrite: false,
    lockWaitMs: 10_000,
    signal: new AbortController().signal,
    progress: () => {},
    logger: silentLogger,
  },
)
process.stdout.write('erasing\n')
await eraseRows({
  ...request,
  onStep: async (done) => {
    if (done !== step) return
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => {}) // the signal is delivered before anything else happens
  },
})
