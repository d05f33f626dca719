// Runs one command and ends with the exit code of the contract. oclif parses; failures are shown here.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import '@oclif/core/command'
import type { Interfaces } from '@oclif/core'
import { run } from '@oclif/core/run'
import { UsageError } from '../core/failures.ts'
import { hasToExit } from '../core/until-exit.ts'
import { codeDir, packageDir } from '../files/package.ts'
import { ownPlugin } from './own-plugin.ts'
import { lookOf } from './paint.ts'
import { exitCodeOf, failureEvents, showFailure } from './show-failure.ts'

let isOutputLost = false

export async function main(argv: readonly string[]): Promise<void> {
  // oclif listens too, as soon as its commands are loaded, and throws what is not a closed pipe.
  process.stdout.removeAllListeners('error').on('error', reportLostOutput)
  process.stderr.on('error', () => {}) // a log on a full disk ends no server, and nobody is left to report to
  try {
    requireDirectory()
    const plugin = ownPlugin(readDescription())
    const plugins = new Map([[plugin.name, plugin]])
    await run([...inOwnWords(argv)], { root: codeDir, plugins })
  } catch (thrown) {
    const error = helpProblem(thrown) ?? thrown
    const look = lookOf(process.stderr, { colour: !argv.includes('--no-color') })
    if (argv.includes('--json')) write(process.stdout, failureEvents(error))
    write(process.stderr, showFailure(error, { verbose: argv.includes('--verbose') }, look))
    process.exitCode = exitCodeOf(error)
  }
  if (hasToExit()) await end()
}

/** A shell may stand where somebody else has removed or cloned everything anew. */
function requireDirectory(): void {
  try {
    process.cwd()
  } catch {
    const hint = 'change to it again, or to another one: cd "$PWD", or cd ~'
    throw new UsageError('the current directory is gone', { hint })
  }
}

/** When all output is on its way. */
async function end(): Promise<never> {
  for (const stream of [process.stdout, process.stderr])
    if (stream.writable) await new Promise<void>((resolve) => stream.write('', () => resolve()))
  process.exit()
}

const readDescription = () =>
  JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8')) as Interfaces.PJSON

/** oclif asks its hook for an unknown command, but not when help about it is wanted. */
function helpProblem(error: unknown): UsageError | null {
  const [, words] = /^Command (.+) not found\.$/.exec((error as Error).message) ?? []
  if (words === undefined) return null
  const hint = '"eider --help" lists the commands'
  return new UsageError(`there is no command "${words.replaceAll(':', ' ')}"`, { hint })
}

/** A reader of our output may stop reading (`| head -1`); any other failure, as of a full disk, has lost results. */
function reportLostOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || isOutputLost) return
  isOutputLost = true
  process.stderr.write(`error: the output cannot be written: ${error.message}\n`)
  process.on('exit', (exitCode) => (process.exitCode = exitCode || 3))
}

function write(stream: NodeJS.WriteStream, text: string): void {
  if (text !== '') stream.write(text + '\n')
}

const VERSION_WORDS = ['--version', '-v', '-V']

/** The same command line as oclif reads it. */
function inOwnWords(argv: readonly string[]): readonly string[] {
  const [first = '', ...rest] = argv
  if (VERSION_WORDS.includes(first)) return ['version', ...rest]
  // Other tools have it as a command; here it is one only with something to look up.
  const isHelpOfHelp = first === 'help' && rest.some((word) => word === '-h' || word === '--help')
  return isHelpOfHelp ? [...rest.filter((word) => !word.startsWith('-')), '--help'] : argv
}
