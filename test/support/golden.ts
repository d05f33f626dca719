// Golden cases: what the program says for a given input, kept in a file that a reviewer reads. An area is a directory
// below test/golden/, a case one file in it (txtar.ts): the files it is made from, and last `-- expected --`.
// UPDATE_GOLDEN=1 rewrites the expected part; the difference is the change of behaviour.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { temporaryDirectory } from './temporary-directory.ts'
import { parseTxtar, printTxtar, type TextFile } from './txtar.ts'
import { repository } from './workspace.ts'

interface GoldenCase {
  /** Of the file, without its ending. */
  readonly name: string
  readonly files: readonly TextFile[]
}

const ENDING = '.txtar'
const EXPECTED = 'expected'

/** A test for each case of the area, named after its file: `answer` gives what is expected. Returns the names. */
export function testGolden(
  area: string,
  answer: (golden: GoldenCase) => Promise<string>,
): readonly string[] {
  const directory = join(repository, 'test/golden', area)
  const names = readdirSync(directory).toSorted()
  for (const file of names)
    test(`golden/${area}/${file}`, async () => {
      assert.ok(file.endsWith(ENDING), `not a ${ENDING} file`)
      const path = join(directory, file)
      const { comment, files } = parseTxtar(readFileSync(path, 'utf8'))
      const given = files.filter((part) => part.path !== EXPECTED)
      const found = await answer({ name: file.slice(0, -ENDING.length), files: given })
      if (process.env['UPDATE_GOLDEN'] === '1') {
        const expected = { path: EXPECTED, content: Buffer.from(found) }
        writeFileSync(path, printTxtar({ comment, files: [...given, expected] }))
        return
      }
      const last = files.at(-1)
      if (last?.path !== EXPECTED) assert.unreachable(`the last part is not -- ${EXPECTED} --`)
      else if (last.content.toString() !== found)
        assert.unreachable(difference(last.content.toString(), found))
    })
  assert.ok(names.length > 0, `no cases in ${directory}`)
  return names.map((file) => file.slice(0, -ENDING.length))
}

/** The lines around the first one that differs: a whole case would bury them. */
function difference(expected: string, found: string): string {
  const [wanted, got] = [expected, found].map((text) => text.split('\n')) as [string[], string[]]
  const first = wanted.findIndex((line, i) => line !== got[i])
  const at = first === -1 ? wanted.length : first
  const around = (lines: readonly string[]) =>
    lines.slice(Math.max(0, at - 3), at + 12).map((line) => `  ${line}`)
  return [
    `differs from line ${at + 1} of what is expected on:`,
    ...around(wanted),
    'but is:',
    ...around(got),
    'UPDATE_GOLDEN=1 writes what it is now',
  ].join('\n')
}

/** The files as a project in a temporary directory. An eider.yml that says nothing but a name need not be among them. */
export async function goldenProject(files: readonly TextFile[]) {
  const directory = await temporaryDirectory()
  await writeFiles(directory.path, [
    { path: 'eider.yml', content: Buffer.from('name: golden\n') },
    ...files,
  ])
  return directory
}

export async function writeFiles(directory: string, files: readonly TextFile[]): Promise<void> {
  for (const { path, content } of files) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), content)
  }
}
