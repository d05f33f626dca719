import { join, relative, resolve } from 'node:path'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { count } from '../core/counts.ts'
import { UsageError } from '../core/failures.ts'
import { packageDir } from '../files/package.ts'
import { BaseCommand } from '../cli/base-command.ts'
import type { FoundData } from '../project/found-data.ts'
import { type InitResult, templates } from '../project/init.ts'

export default class Init extends BaseCommand {
  static override summary = 'Create a working project'
  static override examples = ['<%= config.bin %> init demo']
  static override args = {
    directory: Args.string({
      ignoreStdin: true,
      description: 'New or empty directory, or a clone',
      default: '.',
    }),
  }
  static override flags = {
    template: Flags.option({ options: templates, default: 'events' as const })({
      summary:
        'events: a small working pipeline; web-analytics, shop, app-database, files: one with a story; blank: an empty project',
    }),
    'from-files': Flags.boolean({
      summary: 'Make sources and models of the CSV, Parquet and SQLite files that are there',
      exclusive: ['template'],
    }),
  }

  async run(): Promise<void> {
    const { args, flags, metadata } = await this.parse(Init)
    const { initProject } = await import('../project/init.ts')
    if (args.directory === '') throw new UsageError('the name of the directory is empty')
    const dir = resolve(args.directory)
    const templatesDir = join(packageDir, 'templates')
    const isChosen = metadata.flags['template']?.setFromDefault !== true
    const isAsked = !isChosen && !flags.json && !flags.quiet
    const { found, left } = await foundIn(dir, flags['from-files'], isAsked)
    const template = found === undefined ? flags.template : 'blank'
    const made = await initProject({ dir, template, templatesDir, found })
    const { written, kept, ignored } = made
    if (flags.json) {
      this.printEvent({ event: 'initialized', dir, files: written, kept, ignored })
      return
    }
    for (const file of flags.verbose ? written : []) this.print(`wrote ${file}`)
    const place = relative('.', dir)
    if (!flags.quiet) for (const line of report(made, place, left)) this.print(line)
    this.print(nextSteps(place, made))
  }
}

interface Chosen {
  /** What sources and models are made of. */
  readonly found?: FoundData
  /** Files of which none are made, because nobody could be asked. */
  readonly left?: string
}

async function foundIn(dir: string, isWanted: boolean, isAsked: boolean): Promise<Chosen> {
  if (!isWanted && !isAsked) return {}
  const { findData, hasData } = await import('../project/found-data.ts')
  const found = await findData(dir)
  if (!hasData(found) && isWanted)
    throw new UsageError(`there are no CSV, Parquet or SQLite files in ${dir}`, {
      hint: 'they are looked for there and in the directories in it',
    })
  if (!hasData(found)) return {}
  if (isWanted) return { found }
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY
  if (!isTerminal) return { left: namesOf(found) }
  return (await isAgreed(found)) ? { found } : {}
}

function namesOf({ tables, databases }: FoundData): string {
  const names = [...tables.map(({ file }) => file), ...databases]
  return names.slice(0, 5).join(', ') + (names.length > 5 ? ', …' : '')
}

async function isAgreed(found: FoundData): Promise<boolean> {
  const { answerTo } = await import('../cli/ask.ts')
  const answer = await answerTo(`Make sources and models of ${namesOf(found)}? [Y/n] `)
  if (answer !== null) return /^\s*(?:y(?:es)?)?\s*$/i.test(answer)
  throw new UsageError('there was no answer; nothing was written', {
    hint: '--from-files makes them, and --template begins with something else',
  })
}

function report(
  { written, kept, ignored }: InitResult,
  place: string,
  left: string | undefined,
): readonly string[] {
  const inPlace = place === '' ? 'the project here' : place
  return [
    `created ${inPlace}: ${written.length} files`,
    ...kept.map((file) => `kept ${file} as it was`),
    ...(left === undefined
      ? []
      : [
          `nothing was made of ${left}: a project that begins with them is eider init --from-files`,
        ]),
    ...(ignored.length === 0 ? [] : [`added to .gitignore: ${ignored.join(', ')}`]),
    '',
  ]
}

const POST_EVENTS =
  "curl --retry 5 --retry-connrefused -H 'Content-Type: application/x-ndjson' --data-binary @events.ndjson http://127.0.0.1:8080/collect/raw/orders/batch"

/** Commands to type, each with what it does. */
function nextSteps(place: string, { written }: InitResult): string {
  // As npx starts it, it is not on the path.
  const eider = process.env['npm_command'] === 'exec' ? 'npx eider' : 'eider'
  const hasTests = written.some((file) => file.startsWith('tests/'))
  const models = written.filter((file) => /^(models|seeds)\/.*\.(sql|csv)$/.test(file)).length
  const steps = [
    ...(place === '' ? [] : [[`cd ${quoted(place)}`]]),
    ...(hasTests
      ? [
          [`${eider} test`, 'checks examples of the models'],
          [`${eider} run`, `builds ${count(models, 'model')}; README.md tells the rest`],
        ]
      : written.includes('events.ndjson')
        ? [
            [`${eider} collect daemon &`, 'takes events on http://127.0.0.1:8080'],
            [POST_EVENTS],
            [`${eider} run`, `builds ${count(models, 'model')}`],
          ]
        : [
            [
              `${eider} run`,
              models === 0
                ? 'builds the models; models/README.md shows how to write one'
                : `builds ${count(models, 'model')}`,
            ],
          ]),
    [`${eider} serve`, 'http://127.0.0.1:8090/odata, also for Excel'],
  ]
  return steps
    .map(([command = '', what]) => `  ${what === undefined ? command : command.padEnd(30) + what}`)
    .join('\n')
}

/** The path as one word of a shell. */
function quoted(path: string): string {
  const word = path.startsWith('-') ? `./${path}` : path
  return /^[\p{L}\p{N}_./@%+=:,-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
