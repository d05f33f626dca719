import { join, relative, resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { BaseCommand, type FlagsOf } from '../cli/base-command.ts'
import { argument, variableFlags } from '../cli/shared-flags.ts'
import {
  type Diagnostic,
  diagnostic,
  DiagnosticsError,
  throwIfErrors,
} from '../core/diagnostics.ts'
import { limits } from '../core/limits.ts'
import type { Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import type { SourceFile } from '../core/source-text.ts'
import type { Said } from '../exchange/format.ts'
import type { ImportedFile } from '../exchange/import-file.ts'
import type { Project } from '../project/project.ts'

export default class Import extends BaseCommand {
  static override summary =
    'Take a data contract into the headers of models, or check that they keep it'
  static override examples = [
    '<%= config.bin %> import shop.odcs.yaml',
    '<%= config.bin %> import shop.odcs.yaml --check',
  ]
  static override flags = {
    ...variableFlags,
    check: Flags.boolean({
      summary: 'Write nothing; end with 1 if a model does not keep what the file says',
    }),
  }
  static override args = {
    file: argument('the file'),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Import)
    const typed = resolve(args.file)
    const { name, files, paths } = await this.openProject(flags)
    const { readSource } = await import('../project/read-text.ts')
    const { readExchanged } = await import('../exchange/formats.ts')
    const source = readSource(paths.dir, relative(paths.dir, typed), limits.exchangedFileBytes)
    if ('code' in source) throw new DiagnosticsError([source])
    // What a model has promised so far is no mistake: it may be about to promise something else.
    const project = await compiledFor({ files, paths }, () => false)
    throwIfErrors(project.errors)
    const sources = new Map(files.models.map((file) => [file.name, file.source]))
    const known = Array.from(project.models.values(), (model) => {
      return { ...model, source: sources.get(model.name) ?? model.source }
    })
    const said = readExchanged(source, name, known)
    const { changes, broken } = await weighed(said, source, {
      isCheck: flags.check,
      hasFile: (name) => sources.has(name),
    })
    for (const what of said.left) this.#note(`not taken: ${what}`, flags)
    throwIfErrors(broken.slice(0, limits.exchangedMistakes))
    const written = changes.filter(({ state }) => state !== 'unchanged')
    const isWriting = !flags.check && written.length > 0
    const after = isWriting ? await this.#compiledWith(written, source, flags) : known
    const { untrueMeasures } = await import('../exchange/compare.ts')
    const untrue = changes.flatMap(({ model: name, said: ofModel }) => {
      const model = after.find((one) => one.name === name)
      return model === undefined ? [] : untrueMeasures(ofModel, model, source)
    })
    throwIfErrors(untrue.slice(0, limits.exchangedMistakes))
    if (isWriting) {
      const { writeAllOrNone } = await import('../files/replaced-file.ts')
      await writeAllOrNone(
        written.map(({ path, text, state }) => {
          return { path: join(paths.dir, path), text, isNew: state === 'new' }
        }),
      )
    }
    if (!flags.check)
      for (const { told } of changes)
        for (const line of told) this.#note(`SQL of the file: ${line}`, flags)
    this.#report(changes, said, flags)
  }

  /** The models with the texts as they would be. Throws DiagnosticsError for what these break. */
  async #compiledWith(
    written: readonly ImportedFile[],
    source: SourceFile,
    flags: FlagsOf<typeof Import>,
  ): Promise<readonly Model[]> {
    const { placedInFile } = await import('../exchange/place-in-file.ts')
    const texts = new Map(written.map(({ path, text }) => [path, text]))
    const project = await this.openProject(flags, {}, texts)
    // What other models have promised is not what the file is about.
    const compiled = await compiledFor(project, (path) => texts.has(path))
    const placed = compiled.errors.map((error) => placedInFile(error, written, source))
    throwIfErrors(placed.slice(0, limits.exchangedMistakes))
    return [...compiled.models.values()]
  }

  #note(text: string, { quiet, json }: FlagsOf<typeof Import>): void {
    if (!quiet && !json) process.stderr.write(`${text}\n`)
  }

  #report(
    changes: readonly ImportedFile[],
    { left }: Said,
    { json, check }: FlagsOf<typeof Import>,
  ): void {
    for (const { model, path, state, told } of changes) {
      const done = check ? 'kept' : state === 'unchanged' ? 'unchanged' : 'wrote'
      const sql = check ? [] : told
      if (json)
        this.printEvent({ event: 'import', model, path, state: check ? 'kept' : state, sql })
      else this.print(`${done}  ${check ? model : path}`)
    }
    if (json) this.printEvent({ event: 'import-finished', models: changes.length, left })
    else if (changes.length === 0) this.print('the file has no sets')
  }
}

/** Models hold to their contracts where `isHeld` says so of their files. */
async function compiledFor(
  { files, paths }: Pick<Project, 'files' | 'paths'>,
  isHeld: (path: string) => boolean,
) {
  const { withoutContract } = await import('../compiler/contract.ts')
  const { compileOnce } = await import('../compiler/compile-once.ts')
  const models = files.models.map(({ name, source: { path, text } }) => {
    return { name, source: { path, text: isHeld(path) ? text : withoutContract(text) } }
  })
  return await compileOnce({ ...files, models }, { ...paths, save: false })
}

interface Weighing {
  readonly isCheck: boolean
  readonly hasFile: (model: ModelName) => boolean
}

async function weighed({ models }: Said, source: SourceFile, { isCheck, hasFile }: Weighing) {
  const { brokenPromises } = await import('../exchange/compare.ts')
  const { importedFile } = await import('../exchange/import-file.ts')
  const broken: Diagnostic[] = []
  const changes = new Map<string, ImportedFile>()
  for (const said of models) {
    const { model, name, span } = said
    const isKnown = model !== null && hasFile(model.name)
    broken.push(...brokenPromises(said, source, { withChecks: isCheck, hasFile: isKnown }))
    const file = isCheck && model === null ? null : importedFile(said, isKnown)
    const isTwice = changes.has(file?.path ?? '')
    if (file !== null && !isTwice) changes.set(file.path, file)
    else {
      const problem = isTwice
        ? `"${name}" is a model that it has named before`
        : `no model has the name "${name}"`
      broken.push(diagnostic('contract-broken', { problem }, { source, span }))
    }
  }
  return { changes: [...changes.values()], broken }
}
