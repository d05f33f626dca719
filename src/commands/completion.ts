import * as Args from '@oclif/core/args'
import { BaseCommand } from '../cli/base-command.ts'
import { complete } from '../cli/completion/complete.ts'
import { scripts, type Shell, shells, showProposal } from '../cli/completion/scripts.ts'
import { splitWords } from '../cli/completion/split-words.ts'

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
    const script = scripts[shell]
    if (flags.json) this.printEvent({ event: 'completion', shell, script })
    else process.stdout.write(script)
  }

  /** What the scripts ask for: the words of the command line so far, or all of it in bash. Mistakes propose nothing. */
  async #propose(shell: Shell, typed: readonly string[]): Promise<void> {
    const words = (shell === 'bash' ? splitWords(typed.join(' ')) : typed).slice(1)
    const { completionValues } = await import('./completion-values.ts')
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
