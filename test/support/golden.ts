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

export interface GoldenCase {
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
      const text = readFileSync(path, 'utf8')
      const { comment, files } = parseTxtar(text)
      const given = files.filter((part) => part.path !== EXPECTED)
      const found = await answer({ name: file.slice(0, -ENDING.length), files: given })
      const expected = { path: EXPECTED, content: Buffer.from(found) }
      const now = printTxtar({ comment, files: [...given, expected] })
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, now)
      else assert.fixture(now, text)
    })
  assert.ok(names.length > 0, `no cases in ${directory}`)
  return names.map((file) => file.slice(0, -ENDING.length))
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
