import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
import { writeOut, wroteLine } from '../cli/write-out.ts'
import { variableFlags } from '../cli/shared-flags.ts'
import type { DocsData } from '../core/catalog.ts'
import type { CompiledProject } from '../core/model.ts'
import { packageDir } from '../files/package.ts'
import { unreadableManifest } from '../wiring/read-manifest.ts'
import { spawn } from 'node:child_process'
import { EnvironmentError } from '../core/failures.ts'

export default class Docs extends BaseCommand {
  static override summary = 'Write the documentation of the project as one HTML file'
  static override examples = [
    '<%= config.bin %> docs --open',
    '<%= config.bin %> docs --against main/target/manifest.json',
    '<%= config.bin %> docs --mermaid > lineage.mmd',
  ]
  static override flags = {
    ...variableFlags,
    out: Flags.string({ summary: 'The file; target/docs.html by default' }),
    open: Flags.boolean({ summary: 'Open it in the browser' }),
    against: Flags.string({
      summary: 'Mark the changes against this target/manifest.json',
    }),
    mermaid: Flags.boolean({
      summary: 'Print the lineage as a Mermaid diagram instead',
      exclusive: ['out', 'open'],
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Docs)
    const { name, files, paths } = await this.openProject(flags)
    const { compileOnce } = await import('../compiler/compile-once.ts')
    const { openStore } = await import('../store/open.ts')
    const { describeState } = await import('../pipeline/catalog/catalog-text.ts')
    const project = await compileOnce(files, { ...paths, save: false })
    const compared = flags.against === undefined ? null : await compare(project, flags.against)
    const { snapshots } = openStore(paths)
    const catalog = await describeState(name, project, snapshots, compared?.removed)
    const changes = compared?.changes ?? null
    if (flags.mermaid) {
      const { mermaidOf } = await import('../explorer/docs-file.ts')
      const diagram = mermaidOf({ catalog, changes })
      if (flags.json) return this.printEvent({ event: 'docs-diagram', mermaid: diagram })
      return this.print(diagram.trimEnd())
    }
    const path = resolve(flags.out ?? join(paths.target, 'docs.html'))
    await write(path, { catalog, changes, written_at: new Date().toISOString() })
    if (flags.json) this.printEvent({ event: 'docs-written', path })
    else this.print(wroteLine(path))
    if (flags.open) await openInBrowser(path)
  }
}

async function compare(project: CompiledProject, path: string) {
  const { changesSince } = await import('../pipeline/catalog/earlier-manifest.ts')
  try {
    return changesSince(project, await readFile(path, 'utf8'), path)
  } catch (error) {
    throw unreadableManifest(path, error)
  }
}

async function write(path: string, data: DocsData): Promise<void> {
  const { docsFile } = await import('../explorer/docs-file.ts')
  const template = await readFile(join(packageDir, 'dist', 'explorer', 'docs.html'), 'utf8')
  await writeOut(path, docsFile(template, data))
}

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Throws EnvironmentError where nothing can show it. */
async function openInBrowser(path: string): Promise<void> {
  const [program, ...words] = openers[process.platform] ?? ['xdg-open']
  const child = spawn(program, [...words, path], { stdio: 'ignore', detached: true })
  const problem = await new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code) => resolve(code === 0 ? null : `${program} ended with ${code}`))
  })
  if (problem === null) return
  throw new EnvironmentError('no-browser', `the file cannot be shown: ${problem}`, {
    hint: `open ${path} yourself`,
  })
}
