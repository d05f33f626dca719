// What `plan` says to projects and their changes. A case is a project, and what happens in it one after the other:
//
//   -- $ run --                   runs the pipeline
//   -- models/mart/t.sql --       writes a file again
//   -- $ rm models/raw/a.sql --   removes one
//   -- $ plan --diff --           is what is expected, with its exit code unless that is 0

import { rm } from 'node:fs/promises'
import { test } from 'uvu'
import { testGolden } from '../support/golden.ts'
import { runProject } from '../support/pipeline-project.ts'
import { workspaceOnTarget } from '../support/workspace-on-target.ts'

testGolden('plan', async ({ files }) => {
  await using space = await workspaceOnTarget({ name: 'golden' })
  let printed = ''
  for (const { path, content } of files) {
    const [sign, command = '', ...args] = path.split(' ')
    if (sign !== '$') await space.write(path, content)
    else if (command === 'rm') await rm(space.path(...args))
    else if (command === 'run') await runProject(space.paths)
    else {
      const { stdout, stderr, exitCode } = await space.eider([command, ...args])
      const ending = exitCode === 0 ? '' : `exit code ${exitCode}\n`
      printed += `${printed === '' ? '' : '\n'}${path.replace('$', '$ eider')}\n${stdout}${stderr}${ending}`
    }
  }
  return printed.replaceAll(MADE_AT, 'NOW')
})

/** A time of day with a fraction: when the plan was made. */
const MADE_AT = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+00/g

test.run()
