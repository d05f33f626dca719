// What all commands share: flags, the project, the logger, and usage errors that suggest.

import type { Interfaces } from '@oclif/core'
import { Command } from '@oclif/core/command'
import * as Flags from '@oclif/core/flags'
import type { Diagnostic } from '../core/diagnostics.ts'
import { UsageError } from '../core/failures.ts'
import { type Logger, createLogger, type LogLine } from '../core/logger.ts'
import { limits } from '../core/limits.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Project } from '../project/project.ts'
import type { UnsavedTexts } from '../project/read-text.ts'
import type { SettingName } from '../project/settings.ts'
import { type Look, lookOf, type Paint } from './paint.ts'
import { showDiagnostic } from './show-diagnostic.ts'
import { failureEvents, showFailure } from './show-failure.ts'
import type { StopRequest } from './signals.ts'
import { usageProblem } from './usage-problem.ts'

export type FlagsOf<C extends { readonly flags: Interfaces.FlagInput }> = Interfaces.InferredFlags<
  C['flags'] & typeof BaseCommand.baseFlags
>

export interface SharedFlags {
  readonly project?: string | undefined
  /** null: none, also where the environment names one. */
  readonly target?: string | null | undefined
  readonly json: boolean
  readonly quiet: boolean
  readonly verbose: boolean
  readonly 'no-color': boolean
  /** Only commands that compile have it. */
  readonly vars?: readonly string[] | undefined
}

type SettingFlags = Partial<Record<SettingName, string | number | boolean | undefined>>

export abstract class BaseCommand extends Command {
  static override baseFlags = {
    project: Flags.directory({
      summary: 'Project directory; by default the nearest one upward that has an eider.yml',
      env: 'EIDER_PROJECT',
      helpGroup: 'GLOBAL',
    }),
    target: Flags.string({
      summary: 'Target of eider.yml, with its own database and state (EIDER_TARGET)',
      helpGroup: 'GLOBAL',
    }),
    json: Flags.boolean({ summary: 'Print JSON, one event per line', helpGroup: 'GLOBAL' }),
    quiet: Flags.boolean({
      summary: 'Print only results, warnings and errors',
      exclusive: ['verbose'],
      helpGroup: 'GLOBAL',
    }),
    'no-color': Flags.boolean({ summary: 'Print without colors', helpGroup: 'GLOBAL' }),
    verbose: Flags.boolean({ summary: 'Print details of what is being done', helpGroup: 'GLOBAL' }),
  }

  /** Known once it was opened: a relative path means something else after that. */
  #projectDir: string | null = null

  /** stdout is for results. */
  protected print(line: string): void {
    process.stdout.write(line + '\n')
  }

  /** One line of `--json`: its `event` says which, docs/schemas/events.json describes each. */
  protected printEvent<Event extends { readonly event: string }>(event: Event): void {
    const whole = 'ms' in event ? { ...event, ms: Math.round(Number(event.ms)) } : event
    this.print(JSON.stringify(whole))
  }

  protected printWarnings(warnings: readonly Diagnostic[]): void {
    const look = this.lookOf(process.stderr)
    for (const warning of warnings) process.stderr.write(showDiagnostic(warning, look) + '\n')
  }

  /** Shows what would end another command, for one that keeps running. */
  protected showFailure(error: unknown, flags: SharedFlags): void {
    if (flags.json) this.print(failureEvents(error))
    process.stderr.write(showFailure(error, flags, this.lookOf(process.stderr)) + '\n')
  }

  /** Colours for stdout. */
  protected paintFor(flags: SharedFlags): Paint {
    return lookOf(process.stdout, { colour: !flags['no-color'] }).paint
  }

  protected lookOf(stream: NodeJS.WriteStream): Look {
    return lookOf(stream, { colour: !this.argv.includes('--no-color') })
  }

  /** Where something is drawn on the terminal, `write` puts lines above it. */
  protected loggerFor(flags: SharedFlags, write: WriteLine = toStderr): Logger {
    const level = flags.verbose ? 'debug' : flags.quiet ? 'warn' : 'info'
    const show = flags.json || !process.stderr.isTTY ? asJson : asText
    return createLogger((line) => write(show(line), line), level)
  }

  /** For a service, which may log each of many requests. */
  protected serviceLoggerFor(flags: SharedFlags): Logger {
    const lines = gatherLines((text) => void process.stderr.write(text))
    return this.loggerFor(flags, (text, { level }) =>
      lines.write(text, level === 'warn' || level === 'error'),
    )
  }

  /** Loads the project of --project, EIDER_PROJECT or the working directory. `settings` are those given as flags. */
  protected async openProject(
    flags: SharedFlags,
    settings: SettingFlags = {},
    unsaved?: UnsavedTexts,
  ): Promise<Project> {
    const { findProjectDir, loadProject, otherSpelling } = await import('../project/load.ts')
    const dir = this.#projectDir ?? flags.project ?? (await findProjectDir(process.cwd()))
    if (dir === null)
      throw new UsageError('no eider.yml here or in a parent directory', {
        hint:
          otherSpelling(process.cwd()) ??
          'start a project with "eider init NAME", or name one with --project',
      })
    const given = Object.entries(settings).filter(([, value]) => value !== undefined)
    const project = await loadProject(dir, {
      env: process.env,
      flags: Object.fromEntries(given),
      target: flags.target,
      vars: flags.vars,
      ...(unsaved && { unsaved }),
    })
    this.#projectDir = project.paths.dir
    // DuckDB looks for relative file names in the working directory before anywhere else.
    process.chdir(project.paths.dir)
    return project
  }

  /** Works now and after each change of the project, until it is told to stop, which is its proper end. */
  protected async watch(
    flags: SharedFlags,
    stop: StopRequest,
    work: () => Promise<void>,
    also: readonly string[] = [],
  ): Promise<void> {
    const { paths } = await this.openProject(flags)
    const { ProjectWatch } = await import('../project/watch.ts')
    const { savedText } = await import('./run-lines.ts')
    const quietTextMs = limits.watchQuietTextMs
    await using watch = await ProjectWatch.open(paths.dir, { also, quietTextMs })
    const note = (text: string) => {
      if (!flags.quiet) process.stderr.write(`${text}\n`)
    }
    const again = async (saved: readonly string[]) => {
      if (saved.length > 0) note(savedText(saved))
      await work().catch((error: unknown) => this.showFailure(error, flags))
    }
    await again([])
    if (!stop.signal.aborted) note('waiting for changes; Ctrl-C ends')
    watch.onChange(again)
    await stop.asked
  }

  /** oclif would take the value after `=` for an argument. */
  protected override async init(): Promise<void> {
    await super.init()
    const flags: Readonly<Record<string, { readonly type: string }>> = {
      ...this.ctor.baseFlags,
      ...this.ctor.flags,
    }
    const end = this.argv.indexOf('--')
    for (const word of end === -1 ? this.argv : this.argv.slice(0, end)) {
      const [, name = '', value] = /^--([^=]+)=(.*)$/s.exec(word) ?? []
      if (flags[name]?.type !== 'boolean') continue
      throw new UsageError(`--${name} does not take a value, such as "${value}"`, {
        hint: `write --${name}, or leave it out`,
      })
    }
  }

  /** oclif reports the unknown flag; this adds a suggestion. */
  protected override async catch(
    error: Error & { flags?: readonly string[]; oclif?: { exit?: number } },
  ): Promise<void> {
    if (error.constructor.name === 'NonExistentFlagsError')
      throw this.#unknownFlags(error.flags ?? [])
    throw error.oclif?.exit === 2 ? this.#usage(error) : error
  }

  #usage(error: Error): UsageError {
    const title = this.#title()
    const isSplit = error.constructor.name === 'UnexpectedArgsError'
    return new UsageError(usageProblem(title, error), {
      hint: `${isSplit ? 'put an argument with spaces in quotes; ' : ''}see "${title} --help"`,
    })
  }

  #title(): string {
    return `eider ${(this.id ?? '').replaceAll(':', ' ')}`
  }

  #unknownFlags(names: readonly string[]): UsageError {
    const command = this.ctor
    const known = Object.keys({ ...command.baseFlags, ...command.flags }).map((name) => `--${name}`)
    const hint = names
      .map((name) => OF_DBT[name] ?? didYouMean(name, known))
      .find((text) => text !== undefined)
    const title = this.#title()
    return new UsageError(`${title} has no flag ${names.join(', ')}`, {
      hint: hint ?? `see "${title} --help"`,
    })
  }
}

/** Flags that other tools have. */
const OF_DBT: Readonly<Record<string, string>> = {
  '--models': 'name the models without a flag: eider run core.orders mart.sales+',
  '--model': 'name the model without a flag: eider run core.orders',
}

type WriteLine = (text: string, line: LogLine) => void

export const toStderr: WriteLine = (text) => void process.stderr.write(text + '\n')

function asJson({ time, level, event, fields }: LogLine): string {
  const line = { time: time.toISOString(), level, event, ...fields }
  // To ask of each value takes as long as all the rest.
  return Object.values(fields).some(isUnusual)
    ? JSON.stringify(line, (_key, value: unknown) => usual(value))
    : JSON.stringify(line)
}

const isUnusual = (value: unknown) => typeof value === 'object' || typeof value === 'bigint'

function usual(value: unknown): unknown {
  if (value instanceof Error) return describe(value)
  return typeof value === 'bigint' ? String(value) : value
}

function asText({ time, level, event, fields }: LogLine): string {
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${fieldText(value)}`)
  return [time.toISOString().slice(11, 23), level.padEnd(5), event, ...shown].join(' ')
}

function fieldText(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(describe(value))
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
}

const describe = (error: Error): string => error.stack ?? `${error.name}: ${error.message}`

// Lines of a log that are written together at the end of a turn of the event loop: for an answer from memory the system
// call that writes its line costs more than the answer.

interface GatheredLines {
  /** `isUrgent`: it goes out at once, with those before it. */
  write(line: string, isUrgent: boolean): void
}

/** What was gathered goes out when the process ends too, unless that is killed. */
function gatherLines(write: (text: string) => void): GatheredLines {
  let text = ''
  const writeOut = () => {
    if (text === '') return
    const lines = text
    text = ''
    write(lines)
  }
  process.on('exit', writeOut)
  return {
    write(line, isUrgent) {
      if (text === '' && !isUrgent) setImmediate(writeOut)
      text += `${line}\n`
      if (isUrgent) writeOut()
    },
  }
}
