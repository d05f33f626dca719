import { BaseCommand } from '../cli/base-command.ts'
import { cut } from '../cli/cells.ts'
import { tableLines } from '../cli/table.ts'
import type { Line } from '../cli/search-pages.ts'
import { UsageError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'

export default class Help extends BaseCommand {
  static override summary = 'Show help on a command, a page of the documentation, or a term'
  static override examples = [
    '<%= config.bin %> help',
    '<%= config.bin %> help run',
    '<%= config.bin %> help send-events',
    '<%= config.bin %> help @unique_key',
    '<%= config.bin %> help unknown-model',
    '<%= config.bin %> help search time zone',
  ]
  static override strict = false
  static override usage = '[COMMAND | TOPIC | search WORD...] [FLAGS]'

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(Help)
    const words = argv.map(String)
    const [first, ...rest] = words
    if (first === undefined) return await this.#showAll(flags.json)
    if (first === 'search' && rest.length > 0) return await this.#search(rest, flags.json)
    const { config } = this
    const id = words.join(':')
    // oclif knows no topic of a command that is one itself.
    if (config.findCommand(id) !== undefined || config.findTopic(id) !== undefined)
      return await this.#showCommand(words, flags.json)
    await this.#showTopic(words.join(' '), flags.json)
  }

  async #showCommand(words: readonly string[], json: boolean): Promise<void> {
    const { default: OwnHelp } = await import('../cli/help.ts')
    const help = new OwnHelp(this.config, this.config.pjson.oclif.helpOptions)
    await help.showHelp([...words, ...(json ? ['--json'] : [])])
  }

  async #showAll(json: boolean): Promise<void> {
    const { documentation } = await import('../files/documentation.ts')
    await this.#showCommand([], json)
    if (json) return
    const pages = documentation()
    const { paint, columns } = this.lookOf(process.stdout)
    this.print(paint('bold', 'DOCUMENTATION'))
    for (const line of tableLines(pages.map(({ topic, title }) => [topic, title])))
      this.print(cut(`  ${line}`, columns))
    this.print(
      '\neider help TOPIC shows one; annotations, codes, settings and chapters are topics too',
    )
  }

  async #showTopic(words: string, json: boolean): Promise<void> {
    const { findTopic, topicHint } = await import('../cli/find-topic.ts')
    const { inline, showPage, showRow } = await import('../cli/show-page.ts')
    const found = findTopic(words)
    if (found === null) {
      const hint = topicHint(
        words,
        this.config.commandIDs.map((id) => id.replaceAll(':', ' ')),
      )
      throw new UsageError(`there is no command and no topic "${words}"`, { hint })
    }
    const look = json ? null : this.lookOf(process.stdout)
    if (found.is === 'rows') {
      const texts = found.rows.map(({ head, cells, page }) => ({ head, cells, topic: page.topic }))
      if (look === null) return this.printEvent({ event: 'help', text: JSON.stringify(texts) })
      for (const { head, cells, topic } of texts) {
        const shown = cells.map((cell) => inline(cell, look))
        for (const line of showRow(head, shown, look)) this.print(line)
        this.print(look.paint('dim', `    eider help ${topic}\n`))
      }
      return
    }
    const text = found.is === 'page' ? found.page.text : found.text
    if (look === null) return this.printEvent({ event: 'help', text })
    process.stdout.write(showPage(text, look))
    if (found.is === 'chapter') this.print(look.paint('dim', `\neider help ${found.page.topic}`))
  }

  async #search(words: readonly string[], json: boolean): Promise<void> {
    const { searchPages } = await import('../cli/search-pages.ts')
    const found = searchPages(words)
    if (json) return this.printEvent({ event: 'help', text: JSON.stringify(found) })
    const { paint, columns } = this.lookOf(process.stdout)
    const shown = (line: Line) =>
      cut(`${line.topic}:${line.line}  ${line.text}`, Math.min(columns, 200))
    for (const line of found.slice(0, limits.foundLines)) this.print(shown(line))
    if (found.length > limits.foundLines)
      this.print(paint('dim', `and ${found.length - limits.foundLines} more`))
    if (found.length === 0) this.print(`no page has ${words.join(' or ')}`)
    this.exit(found.length === 0 ? 1 : 0)
  }
}
