import { createHash } from 'node:crypto'
import { newToken } from '../access/hashed-tokens.ts'
import { BaseCommand } from '../cli/base-command.ts'
import { argument } from '../cli/shared-flags.ts'
import { UsageError } from '../core/failures.ts'
import { NAME_IN_LOG } from '../access/hashed-tokens.ts'

/** A guess has one chance in 2^256. */
const TOKEN_BYTES = 32

export default class Token extends BaseCommand {
  static override summary = 'Generate a token for a client or a sender; shown once'
  static override examples = ['<%= config.bin %> token excel']
  static override args = {
    name: argument('Name of the token in the log'),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Token)
    const { name } = args
    if (!NAME_IN_LOG.test(name))
      throw new UsageError('the name of a token has letters, digits, _ and -', {
        hint: 'such as eider token excel',
      })
    const token = newToken(TOKEN_BYTES)
    const hash = `sha256:${createHash('sha256').update(token).digest('hex')}`
    if (flags.json) return this.printEvent({ event: 'token', name, token, hash })
    process.stderr.write(
      'the token, to give to its holder; it is not stored, and not shown again:\n',
    )
    this.print(token)
    process.stderr.write(
      `\nin eider.yml, under odata.tokens or collect.tokens:\n- name: ${name}\n  hash: ${hash}\n`,
    )
  }
}
