// Runs one command and ends with the exit code of the contract. oclif parses; failures are shown here.

import { fileURLToPath } from 'node:url'
import { run } from '@oclif/core'
import { exitCodeOf, failureEvents, showFailure } from './show-failure.ts'

const packageRoot = fileURLToPath(new URL('../../..', import.meta.url))

export async function main(argv: readonly string[]): Promise<void> {
  try {
    await run([...argv], packageRoot)
  } catch (error) {
    if (argv.includes('--json')) write(process.stdout, failureEvents(error))
    write(process.stderr, showFailure(error, { verbose: argv.includes('--verbose') }))
    process.exitCode = exitCodeOf(error)
  }
}

function write(stream: NodeJS.WriteStream, text: string): void {
  if (text !== '') stream.write(text + '\n')
}
