import * as Args from '@oclif/core/args'
import { BaseCommand } from '../cli/base-command.ts'
import { complete, type Candidate } from '../cli/completion/complete.ts'
import {
  scriptOf,
  type Shell,
  shells,
  showProposal,
  splitWords,
} from '../cli/completion/scripts.ts'
import { join } from 'node:path'
import type { ValueKind } from '../cli/completion/value-kinds.ts'
import { parseModelFile } from '../compiler/model-file.ts'
import { builtInExtensions, extensionNames } from '../core/extensions.ts'
import { kinds } from '../core/kinds.ts'
import { limits } from '../core/limits.ts'
import { entitySetName } from '../core/names.ts'
import { documentation } from '../files/documentation.ts'
import type { ModelFile } from '../core/project.ts'
import { parseConfig } from '../project/config.ts'
import { readProjectFiles } from '../project/files.ts'
import { findProjectDir } from '../project/load.ts'
import { readSource } from '../project/read-text.ts'

export default class Completion extends BaseCommand {
  static override summary = 'Print the completion script for a shell'
  static override examples = [
    'eval "$(<%= config.bin %> completion bash)"',
    '<%= config.bin %> completion fish > ~/.config/fish/completions/eider.fish',
  ]
  static override strict = false
  static override usage = 'SHELL'
  static override args = {
    shell: Args.string({
      ignoreStdin: true,
      description: 'The shell',
      options: [...shells],
      required: true,
    }),
  }

  async run(): Promise<void> {
    const { args, argv, flags } = await this.parse(Completion)
    const shell = args.shell as Shell
    const typed = argv.slice(1).map(String)
    if (typed.length > 0) return await this.#propose(shell, typed)
    const script = scriptOf(shell)
    if (flags.json) this.printEvent({ event: 'completion', shell, script })
    else process.stdout.write(script)
  }

  /** What the scripts ask for: the words of the command line so far, or all of it in bash. Mistakes propose nothing. */
  async #propose(shell: Shell, typed: readonly string[]): Promise<void> {
    const words = (shell === 'bash' ? splitWords(typed.join(' ')) : typed).slice(1)
    const project = directoryIn(words) ?? process.env['EIDER_PROJECT']
    const proposal = await complete({
      commands: this.config.commands.filter(({ hidden }) => !hidden),
      topics: new Map(this.config.topics.map(({ name, description = '' }) => [name, description])),
      words,
      valuesOf: async (kind) => await completionValues(kind, project).catch(() => []),
    })
    const text = showProposal(proposal, shell, words.at(-1) ?? '')
    if (text !== '') this.print(text)
  }
}

function directoryIn(words: readonly string[]): string | undefined {
  const at = words.indexOf('--project')
  if (at >= 0 && at < words.length - 2) return words[at + 1]
  return words.find((word) => word.startsWith('--project='))?.slice('--project='.length)
}

/** `dir`: of the project, when it is named; else the nearest one upward from the working directory. */
async function completionValues(
  kind: ValueKind,
  dir: string | undefined,
): Promise<readonly Candidate[]> {
  if (kind === 'extension')
    return extensionNames
      .filter((name) => !builtInExtensions.has(name))
      .map((value) => ({ value, description: 'extension of DuckDB' }))
  if (kind === 'topic')
    return documentation().map(({ topic, title }) => ({ value: topic, description: title }))
  const root = dir ?? (await findProjectDir(process.cwd()))
  if (root === null) return []
  if (kind === 'target' || kind === 'variable') return configured(kind, root)
  const { models, seeds } = await readProjectFiles(root, join(root, '.eider', 'warehouse.duckdb'))
  const described = models.map(describe)
  if (kind === 'entitySet')
    return described
      .filter(({ isExposed }) => isExposed)
      .map(({ name, description }) => ({ value: entitySetName(name), description }))
  const names = [
    ...described.map(({ name, description }) => ({ value: name, description })),
    ...seeds.map(({ name }) => ({ value: name, description: 'seed' })),
  ].toSorted((a, b) => (a.value < b.value ? -1 : 1))
  return kind === 'model' ? names : [...names, ...patterns(names, described)]
}

function configured(kind: 'target' | 'variable', root: string): readonly Candidate[] {
  const source = readSource(root, 'eider.yml', limits.configFileBytes)
  if ('code' in source) return []
  const { targets, variables } = parseConfig(source)
  if (kind === 'target') return Array.from(targets.keys(), (value) => ({ value }))
  return Array.from(variables.keys(), (name) => ({ value: `${name}=` }))
}

function describe(file: ModelFile) {
  const { model, kind } = parseModelFile(file, new Map())
  const text = model?.header.description?.value
  return {
    name: file.name,
    tags: (model?.header.tags?.value ?? []).map(({ name }) => name),
    isExposed: model?.header.expose !== undefined,
    description: [kind ?? 'model', ...(text === undefined ? [] : [text])].join(', '),
  }
}

/** Selectors that mean more than one model. */
function patterns(
  names: readonly Candidate[],
  models: readonly ReturnType<typeof describe>[],
): readonly Candidate[] {
  const unique = (values: readonly string[]) => [...new Set(values)].toSorted()
  const schemas = unique(names.map(({ value }) => value.split('.')[0]!))
  const tags = unique(models.flatMap((model) => model.tags))
  return [
    ...schemas.map((schema) => ({ value: `${schema}.*`, description: 'models of the schema' })),
    ...tags.map((tag) => ({ value: `tag:${tag}`, description: 'models with the tag' })),
    ...Object.keys(kinds).map((name) => ({
      value: `kind:${name}`,
      description: 'models of the kind',
    })),
    { value: 'state:modified', description: 'models that differ from what was built' },
  ]
}
