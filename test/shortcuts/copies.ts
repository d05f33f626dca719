// The program without one of its shortcuts (ARCHITECTURE.md): a copy whose source lacks the line that takes it out.

import { spawn } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type OutputOptions, type RolldownOptions } from 'rolldown'
import { type Shortcut, withoutLine } from '../support/architecture-pages.ts'
import { repository } from '../support/workspace.ts'

export interface Copy {
  /** For EIDER_BINARY. */
  readonly binary: string
  /** The files of `src` that export something which the bundle uses, such as src/cli/main.ts. */
  readonly modules: ReadonlySet<string>
}

/** What the program is made of and reads. */
const PROGRAM = ['bin', 'src', 'package.json', 'package-lock.json', 'tsconfig.json']
const BUNDLER = [
  'rolldown.config.js',
  'rolldown.grammar.js',
  'rolldown.commands.js',
  'rolldown.page.js',
]
const UNCHANGED = ['node_modules', 'templates', 'docs', 'dist/src', 'dist/explorer']

/** In `dir`, which is made. null: all of it, as it is. */
export async function copyProgram(dir: string, without: Shortcut | null): Promise<Copy> {
  await copySource(dir)
  if (without !== null) await takeOut(dir, without)
  return { binary: join(dir, 'bin/run.js'), modules: await bundleIn(dir) }
}

/** Throws with the errors of types that there are without any of them. */
export async function checkTypesWithout(dir: string, all: readonly Shortcut[]): Promise<void> {
  await copySource(dir)
  for (const shortcut of all) await takeOut(dir, shortcut)
  await runThere(dir, process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit'])
}

async function copySource(dir: string): Promise<void> {
  await mkdir(join(dir, 'dist'), { recursive: true })
  for (const path of [...PROGRAM, ...BUNDLER])
    await cp(join(repository, path), join(dir, path), { recursive: true })
  for (const path of UNCHANGED) await symlink(join(repository, path), join(dir, path))
}

export async function takeOut(dir: string, shortcut: Shortcut): Promise<void> {
  const path = join(dir, shortcut.importer)
  await writeFile(path, withoutLine(shortcut, await readFile(path, 'utf8')))
}

interface Bundling extends RolldownOptions {
  readonly output: OutputOptions
}

/** Only the program: the page of the explorer is the same in each copy. */
async function bundleIn(dir: string): Promise<ReadonlySet<string>> {
  const config = pathToFileURL(join(dir, 'rolldown.config.js')).href
  const { default: all } = (await import(config)) as { default: readonly Bundling[] }
  const program = all.find(({ output }) => output.dir === 'dist/bundle')!
  const { output } = await build({
    ...program,
    cwd: dir,
    output: { ...program.output, dir: join(dir, 'dist/bundle') },
  })
  // An unused file may leave a constant, since the bundler does not know what the call does that makes it.
  const files = output.flatMap((chunk) =>
    chunk.type === 'chunk'
      ? Object.entries(chunk.modules).flatMap(([file, { renderedExports }]) =>
          renderedExports.length > 0 ? [file] : [],
        )
      : [],
  )
  const own = files.filter((file) => file.startsWith(join(dir, 'src') + sep))
  return new Set(own.map((file) => file.slice(dir.length + 1).replaceAll(sep, '/')))
}

/** Throws with what it printed unless it ends with 0. */
export async function runThere(
  cwd: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdio: 'pipe' | 'inherit' = 'pipe',
): Promise<string> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio })
  const text = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk: Buffer) => (text.stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()))
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve))
  if (exitCode === 0) return text.stdout
  throw new Error(`${args.join(' ')} ended with ${exitCode}\n${text.stdout}\n${text.stderr}`)
}
