// A new project, copied from a template.

import { lstat, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import { hintOfSystem, problemOfSystem } from '../core/system-errors.ts'
import { Resources } from '../core/resources.ts'

/** Stands in the files of a template for the name of the project. */
const NAME_PLACEHOLDER = 'PROJECT_NAME'

interface TemplateFile {
  /** Relative to the project directory, with forward slashes. */
  readonly path: string
  readonly text: string
}

/**
 * Writes the files of a template into `dir`, which may be absent, empty, or hold other files. All files are written or
 * none. Returns their paths, relative to `dir`. Throws UsageError when `dir` is no directory, holds a project, or has
 * one of the files already; EnvironmentError `cannot-write` when the disk refuses.
 */
export async function initProject(options: {
  readonly dir: string
  readonly template: 'events' | 'blank'
  readonly templatesDir: string
}): Promise<readonly string[]> {
  const dir = resolve(options.dir)
  const files = await readTemplate(join(options.templatesDir, options.template), projectName(dir))
  await refuseTakenDirectory(dir, files)
  try {
    await writeAll(dir, files)
  } catch (cause) {
    const message = `the project cannot be written: ${problemOfSystem(cause)}`
    const hint = hintOfSystem(cause) ?? 'choose another directory'
    throw new EnvironmentError('cannot-write', message, { hint, cause })
  }
  return files.map(({ path }) => path)
}

/** The name of the directory as letters, digits, underscores and dashes that start with a letter. */
export function projectName(dir: string): string {
  const words = basename(resolve(dir))
    .normalize('NFKD')
    .replace(/\p{Mark}+/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^[^A-Za-z]+|[_-]+$/g, '')
  return words === '' ? 'project' : words
}

async function readTemplate(templateDir: string, name: string): Promise<readonly TemplateFile[]> {
  const entries = await readdir(templateDir, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const files = paths.map(async (path) => ({
    path: projectPath(relative(templateDir, path)),
    text: (await readFile(path, 'utf8')).replaceAll(NAME_PLACEHOLDER, name),
  }))
  return (await Promise.all(files)).toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

// npm leaves .gitignore out of a package, so templates carry it without its dot.
function projectPath(templatePath: string): string {
  const path = templatePath.split(sep).join('/')
  return path === 'gitignore' ? '.gitignore' : path
}

async function refuseTakenDirectory(dir: string, files: readonly TemplateFile[]): Promise<void> {
  if ((await exists(dir)) && !(await stat(dir).catch(() => null))?.isDirectory())
    throw new UsageError(`${dir} is no directory`)
  if (await exists(join(dir, 'eider.yml')))
    throw new UsageError(`${dir} holds a project already: it has an eider.yml`)
  const taken: string[] = []
  for (const { path } of files) if (await exists(join(dir, path))) taken.push(path)
  if (taken.length > 0)
    throw new UsageError(`${dir} has files that would be overwritten: ${taken.join(', ')}`, {
      hint: 'nothing was written; choose another directory, or move these files away',
    })
}

/** True also for a broken link, and for a path that leads through a file: neither can be written. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR'
  }
}

/** On a failure, removes what it has written and the directories that it has made. */
async function writeAll(dir: string, files: readonly TemplateFile[]): Promise<void> {
  await using undo = new Resources()
  for (const { path, text } of files) {
    const target = join(dir, path)
    const made = await mkdir(dirname(target), { recursive: true })
    if (made !== undefined) undo.defer(() => rm(made, { recursive: true, force: true }))
    await writeFile(target, text, { flag: 'wx' })
    undo.defer(() => rm(target, { force: true }))
  }
  undo.move() // nothing is left to undo
}
