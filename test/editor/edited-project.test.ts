// What an answer to an editor is about: the text that is open, also where its compile has begun already.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EditedProject } from '../../src/editor/edited-project.ts'
import { workspace } from '../support/workspace.ts'

// A compile goes into the directory of its project, which is gone at the end.
const here = process.cwd()
test.after(() => process.chdir(here))

test('a request that comes in the middle of a compile waits for it', async () => {
  await using space = await workspace({
    'eider.yml': 'name: t\n',
    'models/core/a.sql': 'SELECT 1 AS one\n',
  })
  await using project = new EditedProject(space.dir, {
    env: {},
    flags: {},
    onDiagnostics: () => {},
    onProblem: () => {},
  })
  const columns = async () => {
    const models = (await project.fresh())!.compiled.models.values()
    return Array.from(models, (model) => model.columns.map(({ name }) => name).join())
  }
  assert.equal(await columns(), ['one'])
  project.setText('models/core/a.sql', 'SELECT 2 AS two\n')
  const begun = project.fresh()
  assert.equal(await columns(), ['two'])
  await begun
})

test.run()
