import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
import { variableFlags } from '../cli/shared-flags.ts'

export default class Lsp extends BaseCommand {
  static override summary = 'Start the language server for editors, on stdin and stdout'
  static override description =
    'Editors start it, see docs/editors.md. It compiles what is open, saved or not, and builds nothing.'
  static override examples = ['<%= config.bin %> lsp']
  static override flags = {
    ...variableFlags,
    stdio: Flags.boolean({ summary: 'The default; accepted because some editors pass it' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Lsp)
    const { serveEditor } = await import('../editor/server.ts')
    const { target, vars } = flags
    serveEditor({ env: process.env, flags: {}, target, vars, version: this.config.version })
    await new Promise(() => {}) // it ends the process itself
  }
}
