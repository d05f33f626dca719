import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { commands } from '../../src/commands/table.ts'
import { repository } from '../support/workspace.ts'

const page = readFileSync(join(repository, 'docs', 'commands.md'), 'utf8')

/** First words in code style of the rows of the tables below a heading, up to the next heading. */
function rowsBelow(heading: string): readonly string[] {
  const [, after] = page.split(`\n${heading}\n`)
  assert.ok(after !== undefined, `docs/commands.md has no "${heading}"`)
  const [section = ''] = after.split('\n## ')
  return [...section.matchAll(/^\| `([^` ]+)/gm)].map(([, word = '']) => word)
}

const flagsOf = (flags: object) =>
  Object.keys(flags)
    .map((name) => `--${name}`)
    .toSorted()

test('the page lists every command with its short name', () => {
  const named = [...page.matchAll(/^\| `eider ([^`[]+)`?[^|]*\|([^|]*)\|/gm)].flatMap(
    ([, long = '', short = '']) => [long, short.replace(/`eider ([^`]+)`/, '$1')],
  )
  const documented = named.map((name) => name.trim()).filter((name) => name !== '')
  const actual = Object.keys(commands).map((id) => id.replaceAll(':', ' '))
  assert.equal(documented.toSorted(), actual.toSorted())
})

test('the page lists the flags of each command', () => {
  for (const [id, command] of Object.entries(commands)) {
    const isShort = Object.keys(commands).some((other) => other.endsWith(`:${id}`))
    if (isShort) continue
    const documented = rowsBelow(`## ${id.replaceAll(':', ' ')}`)
    assert.equal(documented.toSorted(), flagsOf(command.flags ?? {}), id)
    assert.equal(rowsBelow('## Flags of all commands').toSorted(), flagsOf(command.baseFlags))
  }
})

test.run()
