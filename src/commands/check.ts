import { resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { BaseCommand, type FlagsOf } from '../cli/base-command.ts'
import { gitHubAnnotation, repositoryPrefix, sarifLog } from '../cli/diagnostic-formats.ts'
import { againstFlag, selectionFlags, selectionOf, variableFlags } from '../cli/shared-flags.ts'
import { showDiagnostic } from '../cli/show-diagnostic.ts'
import { diagnosticEvents } from '../cli/show-failure.ts'
import type { Model } from '../core/model.ts'
import { count } from '../core/counts.ts'
import { type Diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import { UsageError } from '../core/failures.ts'
import { problemOfSystem } from '../files/system-errors.ts'
import { readManifest } from '../wiring/read-manifest.ts'

const formats = ['text', 'json', 'github', 'sarif'] as const

type CheckFlags = FlagsOf<typeof Check>

interface Checked {
  readonly models: number
  readonly diagnostics: readonly Diagnostic[]
  /** Path of the project from the root of the repository, with a slash at its end. */
  readonly root: string
}

export default class Check extends BaseCommand {
  static override summary = 'Compile the project and list every error; changes nothing'
  static override examples = [
    '<%= config.bin %> check',
    '<%= config.bin %> check --format github',
    '<%= config.bin %> check --format sarif > eider.sarif',
  ]
  static override strict = false
  static override usage = '[SELECTOR...] [FLAGS]'
  static override flags = {
    ...selectionFlags,
    ...againstFlag,
    ...variableFlags,
    manifest: Flags.string({
      summary: 'Also write the compiled project to this file, for --against in another checkout',
      helpValue: 'FILE',
    }),
    format: Flags.option({ options: formats, default: 'text' as const })({
      summary: 'How errors are printed; --json is json',
    }),
  }

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(Check)
    const checked = await this.#check(flags, argv)
    const errors = checked.diagnostics.filter(({ severity }) => severity === 'error').length
    this.#show(checked, errors, flags)
    this.exit(errors > 0 ? 1 : 0)
  }

  async #check(flags: CheckFlags, argv: readonly unknown[]): Promise<Checked> {
    const { findProjectDir } = await import('../project/load.ts')
    const dir = flags.project ?? (await findProjectDir(process.cwd())) ?? process.cwd()
    const root = repositoryPrefix(dir)
    const typedIn = process.cwd()
    const against = await readManifest(flags.against, typedIn)
    try {
      const opened = await this.openProject(flags)
      const { files, paths, schedule, readers } = opened
      const { compileOnce } = await import('../compiler/compile-once.ts')
      const { knownModels, select } = await import('../compiler/select.ts')
      const { scheduleMistakes } = await import('../compiler/select.ts')
      const { hashSeeds } = await import('../compiler/file-hashes.ts')
      const { diagnosticsOf } = await import('../compiler/mistakes.ts')
      const project = await compileOnce(files, { ...paths, save: false })
      const known = knownModels(project)
      // Without a manifest nobody asks for them.
      const isCompared = against !== undefined || flags.manifest !== undefined
      const seeds = isCompared ? project.models.values() : []
      const contents = await hashSeeds(paths.dir, seeds)
      const { editOf } = await import('../pipeline/catalog/earlier-manifest.ts')
      const isEdited = (model: Model) =>
        against === undefined ? noState() : editOf(model, against, contents) !== null
      const selected = select(known, selectionOf(argv, flags), isEdited)
      if (flags.manifest !== undefined) {
        const { writeManifest } = await import('../pipeline/artifacts.ts')
        const path = resolve(typedIn, flags.manifest)
        await writeManifest(path, project, contents).catch((error: unknown) => {
          throw new UsageError(`--manifest cannot be written: ${problemOfSystem(error)}`)
        })
      }
      const { senderMistakes } = await import('../project/sender-mistakes.ts')
      const { readerMistakes } = await import('../compiler/row-filter.ts')
      const targets = [...known].flatMap(([name, { kind }]) => (kind === 'events' ? [name] : []))
      const diagnostics = [
        ...scheduleMistakes(schedule, known),
        ...senderMistakes(opened, targets),
        ...(await readerMistakes(readers.tokens, project.models.values())),
        ...diagnosticsOf(project, selected),
      ]
      return { models: selected.size, diagnostics, root }
    } catch (error) {
      if (!(error instanceof DiagnosticsError)) throw error // of eider.yml
      return { models: 0, diagnostics: error.diagnostics, root }
    }
  }

  #show({ models, diagnostics, root }: Checked, errors: number, flags: CheckFlags): void {
    const warnings = diagnostics.length - errors
    const format = flags.json ? 'json' : flags.format
    if (format === 'json') {
      for (const line of diagnosticEvents(diagnostics)) this.print(line)
      const counts = { models, errors, warnings }
      return this.printEvent({ event: 'check-finished', ok: errors === 0, ...counts })
    }
    if (format === 'sarif') {
      const log = sarifLog(diagnostics, { root, version: this.config.version })
      return this.print(JSON.stringify(log, null, 2))
    }
    const look = this.lookOf(process.stdout)
    const { paint } = look
    for (const item of diagnostics)
      this.print(
        format === 'github' ? gitHubAnnotation(item, root) : `${showDiagnostic(item, look)}\n`,
      )
    const outcome = errors === 0 ? paint('green', 'ok') : paint('red', 'failed')
    const counts = [count(models, 'model'), count(errors, 'error'), count(warnings, 'warning')]
    this.print(`${outcome}: ${counts.join(', ')}`)
  }
}

function noState(): never {
  throw new UsageError(
    'a check does not look at what was built, so it cannot select state:modified',
    {
      hint: 'add --against FILE, a manifest.json of another state; eider plan state:modified compiles them too',
    },
  )
}
