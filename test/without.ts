// Runs tests on a copy of the checkout without one of the shortcuts of ARCHITECTURE.md. Its own tests are left out.
//
//   npm run without -- SHORTCUT [what test/run.ts takes]...

import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runThere, takeOut } from './shortcuts/copies.ts'
import { ownTests } from './shortcuts/own-tests.ts'
import { shortcuts } from './support/architecture-pages.ts'
import { repository } from './support/workspace.ts'

/** The packages are those of the checkout, all else is built anew. */
const NOT_COPIED = ['.git', 'dist', 'dist-site', 'node_modules']

const [name, ...words] = process.argv.slice(2)
const shortcut = shortcuts.find((one) => one.name === name)
if (shortcut === undefined) {
  process.stderr.write(`the shortcuts are ${shortcuts.map((one) => one.name).join(', ')}\n`)
  process.exit(2)
}
const dir = await mkdtemp(join(tmpdir(), 'eider-without-'))
try {
  for (const entry of await readdir(repository))
    if (!NOT_COPIED.includes(entry))
      await cp(join(repository, entry), join(dir, entry), { recursive: true })
  await symlink(join(repository, 'node_modules'), join(dir, 'node_modules'))
  await takeOut(dir, shortcut)
  await takeOutItem(join(dir, 'ARCHITECTURE.md'), shortcut.name)
  await runThere(dir, 'npm', ['run', 'build'])
  await leaveOut(join(dir, 'dist/test'), ownTests[shortcut.name]!)
  await runThere(dir, process.execPath, ['dist/test/run.js', ...words], {}, 'inherit')
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
} finally {
  await rm(dir, { recursive: true, force: true })
}

/** The item of the list says that there is such a line. */
async function takeOutItem(path: string, shortcutName: string): Promise<void> {
  const lines = (await readFile(path, 'utf8')).split('\n')
  const isItsItem = (line: string) => line.startsWith(`- \`${shortcutName}\`, entered by `)
  await writeFile(path, lines.filter((line) => !isItsItem(line)).join('\n'))
}

async function leaveOut(tests: string, starts: readonly string[]): Promise<void> {
  const files = await readdir(tests, { recursive: true })
  for (const file of files)
    if (file.endsWith('.test.js') && starts.some((start) => file.startsWith(start))) {
      await rm(join(tests, file))
      process.stdout.write(`left out: ${file}\n`)
    }
}
