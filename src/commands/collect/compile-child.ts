// The program of the process that compile-targets.ts starts. It compiles one project, says what came of it, and ends.

import { DiagnosticsError } from '../../core/diagnostics.ts'
import type { Compiled, Compiling } from './compile-targets.ts'

// A service manager asks all processes to stop at once. The daemon decides what becomes of this one.
process.on('SIGTERM', () => {})
// The daemon was killed: nobody waits for the answer.
process.on('disconnect', () => process.exit())
process.once('message', (given: Compiling) => {
  void attempt(given).then((compiled) => process.send!(compiled, () => process.exit()))
})

async function attempt({ files, dir }: Compiling): Promise<Compiled> {
  try {
    const { compile } = await import('../../compiler/compile.ts')
    // Events do not wait for the sources that other models read.
    const { models } = await compile(files, { dir, withoutBrokenSources: true })
    return { targets: [...models.values()].filter((model) => model.kind === 'events') }
  } catch (error) {
    return error instanceof DiagnosticsError ? { diagnostics: error.diagnostics } : { error }
  }
}
