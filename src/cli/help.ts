// Help as oclif prints it, all of it; with --json one event.

import { Help } from '@oclif/core/help'

export default class OwnHelp extends Help {
  #printed: string[] | null = null

  override async showHelp(argv: string[]): Promise<void> {
    if (!argv.includes('--json')) return super.showHelp(argv)
    this.#printed = []
    await super.showHelp(argv)
    const text = this.#printed.map((one) => `${one}\n`).join('')
    process.stdout.write(`${JSON.stringify({ event: 'help', text })}\n`)
  }

  protected override log(...texts: string[]): void {
    if (this.#printed === null) super.log(...texts)
    else this.#printed.push(texts.join(' '))
  }
}
