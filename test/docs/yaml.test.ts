// Each block of YAML in the pages is YAML, as somebody finds who copies it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseDocument } from 'yaml'
import { repository } from '../support/workspace.ts'

test('the YAML of the pages can be read', () => {
  const pages = readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path))
  let count = 0
  for (const page of ['README.md', ...pages]) {
    const text = readFileSync(join(repository, page), 'utf8')
    for (const [, , yaml = ''] of text.matchAll(/^( *)```ya?ml\n([^]*?)^ *```/gm)) {
      count++
      const { errors } = parseDocument(yaml)
      assert.equal(errors.map(String), [], `${page}\n${yaml}`)
    }
  }
  assert.ok(count > 20, `${count} blocks`)
})

test.run()
