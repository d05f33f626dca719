// The tutorials and guides do what they say: every block of code is run, written, compared, or says why it is not.
// Its commands are processes: a page is followed as a user does it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { blocksOf, follow } from '../support/walkthrough.ts'
import { repository } from '../support/workspace.ts'

for (const folder of ['tutorial', 'guides', 'explanations'])
  for (const file of readdirSync(join(repository, 'docs', folder)).toSorted()) {
    if (!file.endsWith('.md')) continue
    const name = `docs/${folder}/${file}`
    const page = readFileSync(join(repository, name), 'utf8')
    test(`${name}: each block of code says what becomes of it`, () => {
      const fences = [...page.matchAll(/^```/gm)].length
      assert.is(blocksOf(page).length * 2, fences)
      for (const { verb, line } of blocksOf(page))
        assert.ok(verb !== null, `${name}:${line} has no comment above it`)
    })
    if (blocksOf(page).some(({ verb }) => verb === 'run'))
      test(`${name} works as written`, () => follow(page, name))
  }

test.run()
