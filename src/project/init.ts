// A new project, copied from a template.

import { appendFile, lstat, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import { hintOfSystem, problemOfSystem } from '../files/system-errors.ts'
import { type FoundData, sourcesText, stagingModels } from './found-data.ts'
import { Resources } from '../core/resources.ts'

/** Placeholder for the name of the project in the files of a template. */
const NAME_PLACEHOLDER = 'PROJECT_NAME'

/** The directories below templates/. */
export const templates = [
  'events',
  'web-analytics',
  'shop',
  'app-database',
  'files',
  'blank',
] as const

export type TemplateName = (typeof templates)[number]

const CONFIG = 'eider.yml'
const GITIGNORE = '.gitignore'

/** Files that a clone of an empty repository may have. */
const OF_A_CLONE = ['README.md', GITIGNORE]

interface TemplateFile {
  /** Relative to the project directory, with forward slashes. */
  readonly path: string
  readonly text: string
}

/** Paths relative to the project directory, with forward slashes. */
export interface InitResult {
  readonly written: readonly string[]
  /** Files of the author's that stay as they are, where the template has one. */
  readonly kept: readonly string[]
  /** Lines added to a .gitignore that was there. */
  readonly ignored: readonly string[]
}

/**
 * Writes the files of a template into `dir`, which may be absent, empty, or hold other files, such as a fresh clone. All
 * files are written or none. Throws UsageError when `dir` is not a directory, has a project, or has one of the files
 * already, except for those that a clone has; EnvironmentError `cannot-write` when the disk does not accept them.
 */
export async function initProject(options: {
  readonly dir: string
  readonly template: TemplateName
  readonly templatesDir: string
  /** Become sources of the project, each with a model that reads it. */
  readonly found?: FoundData | undefined
}): Promise<InitResult> {
  const dir = resolve(options.dir)
  const template = await readTemplate(
    join(options.templatesDir, options.template),
    projectName(dir),
  )
  const files = options.found === undefined ? template : withFound(template, options.found)
  const { fresh, present } = await refuseTakenDirectory(dir, files)
  const ignored = await missingLines(dir, present)
  try {
    await writeAll(dir, fresh, ignored)
  } catch (cause) {
    const message = `the project cannot be written: ${problemOfSystem(cause)}`
    const hint = hintOfSystem(cause) ?? 'choose another directory'
    throw new EnvironmentError('cannot-write', message, { hint, cause })
  }
  const kept = present.map(({ path }) => path).filter((path) => path !== GITIGNORE)
  return { written: fresh.map(({ path }) => path), kept, ignored }
}

function withFound(template: readonly TemplateFile[], found: FoundData): readonly TemplateFile[] {
  const sources = sourcesText(found)
  const files = template.map((file) =>
    file.path === CONFIG ? { ...file, text: file.text + sources } : file,
  )
  return [...files, ...stagingModels(found)]
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
  return path === 'gitignore' ? GITIGNORE : path
}

/** `present`: the files of OF_A_CLONE that are there; `fresh`: the others. */
async function refuseTakenDirectory(dir: string, files: readonly TemplateFile[]) {
  if ((await exists(dir)) && !(await isDirectory(dir)))
    throw new UsageError(`${dir} is not a directory`)
  if (await exists(join(dir, CONFIG)))
    throw new UsageError(`${dir} already contains a project: it has an eider.yml`)
  const present: TemplateFile[] = []
  const taken: string[] = []
  for (const file of files) {
    const path = join(dir, file.path)
    if (!(await exists(path))) continue
    if (OF_A_CLONE.includes(file.path) && (await isFile(path))) present.push(file)
    else taken.push(file.path)
  }
  if (taken.length > 0)
    throw new UsageError(`${dir} has files that would be overwritten: ${taken.join(', ')}`, {
      hint: 'nothing was written; choose another directory, or move these files away',
    })
  return { fresh: files.filter((file) => !present.includes(file)), present }
}

const isDirectory = async (path: string) => (await stat(path).catch(() => null))?.isDirectory()
const isFile = async (path: string) => (await stat(path).catch(() => null))?.isFile() === true

/** What git must not track: the lines of the template that the author's .gitignore lacks. */
async function missingLines(
  dir: string,
  present: readonly TemplateFile[],
): Promise<readonly string[]> {
  const template = present.find(({ path }) => path === GITIGNORE)
  if (template === undefined) return []
  const lines = (text: string) => text.split(/\r?\n/).map((line) => line.trim())
  // `/target` and `target` hide what `target/` does.
  const bare = (line: string) => line.replace(/^\/|\/$/g, '')
  const known = new Set(lines(await readFile(join(dir, GITIGNORE), 'utf8')).map(bare))
  return lines(template.text).filter((line) => line !== '' && !known.has(bare(line)))
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
async function writeAll(
  dir: string,
  files: readonly TemplateFile[],
  ignored: readonly string[],
): Promise<void> {
  await using undo = new Resources()
  for (const { path, text } of files) {
    const target = join(dir, path)
    const made = await mkdir(dirname(target), { recursive: true })
    if (made !== undefined) undo.defer(() => rm(made, { recursive: true, force: true }))
    await writeFile(target, text, { flag: 'wx' })
    undo.defer(() => rm(target, { force: true }))
  }
  // Last, so that it is never to be undone.
  if (ignored.length > 0) await addLines(join(dir, GITIGNORE), ignored)
  undo.move() // nothing is left to undo
}

async function addLines(path: string, lines: readonly string[]): Promise<void> {
  const before = await readFile(path, 'utf8')
  const end = before === '' || before.endsWith('\n') ? '' : '\n'
  await appendFile(path, `${end}${lines.join('\n')}\n`)
}
