// Runs one command and ends with the exit code of the contract. oclif parses; failures are shown here.

import { fileURLToPath } from 'node:url'
import { run } from '@oclif/core/run'
import { exitCodeOf, failureEvents, showFailure } from './show-failure.ts'

const packageRoot = fileURLToPath(new URL('../../..', import.meta.url))

export async function main(argv: readonly string[]): Promise<void> {
  // Whoever reads our output may stop reading (`| head -1`); a server goes on, and nothing else is lost.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe)
  try {
    await run([...argv], packageRoot)
  } catch (error) {
    if (argv.includes('--json')) write(process.stdout, failureEvents(error))
    write(process.stderr, showFailure(error, { verbose: argv.includes('--verbose') }))
    process.exitCode = exitCodeOf(error)
  }
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

function write(stream: NodeJS.WriteStream, text: string): void {
  if (text !== '') stream.write(text + '\n')
}
