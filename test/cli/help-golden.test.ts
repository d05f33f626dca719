// The help of each command and topic, as a terminal of 80 columns shows it. A new command needs a file here: one line
// `-- $ eider <command> --help --`, and UPDATE_GOLDEN=1 writes the rest.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { commands } from '../../src/commands/table.ts'
import { testGolden } from '../support/golden.ts'
import { workspace } from '../support/workspace.ts'

const cases = testGolden('help', async ({ files }) => {
  await using space = await workspace()
  const [, , ...args] = files[0]!.path.split(' ')
  const { stdout } = await space.ok(args)
  return stdout.replace(/^( *eider\/)\S+ \S+ node-\S+$/m, '$1<version> <platform> node-<version>')
})

test('every command has a case, by its short name if it has one', () => {
  const ids = Object.entries(commands)
  const firstNames = ids.filter(([, command], i) => ids.findIndex(([, c]) => c === command) === i)
  const missing = firstNames
    .map(([id]) => id.replace(':', '-'))
    .filter((name) => !cases.includes(name))
  assert.equal(missing, [])
})

test.run()
