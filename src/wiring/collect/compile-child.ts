// The program of the process that compile-targets.ts starts. It compiles one project, sends the result, and exits.

import type { Code, Diagnostic } from '../../core/diagnostics.ts'
import type { CompiledProject } from '../../core/model.ts'
import { ExtensionError } from '../../duckdb/extension-files.ts'
import type { Compiled, Compiling } from './compile-targets.ts'

// A service manager asks all processes to stop at once. The daemon decides when this one stops.
process.on('SIGTERM', () => {})
// The daemon was killed: nobody waits for the answer.
process.on('disconnect', () => process.exit())
process.once('message', (given: Compiling) => {
  void attempt(given).then((compiled) => process.send!(compiled, () => process.exit()))
})

async function attempt({ files, dir }: Compiling): Promise<Compiled> {
  try {
    const { compileAll } = await import('../../compiler/compile.ts')
    // A door does not wait for what queries call: without it they do not compile, and events are as they are.
    const compiled = await compileAll(files, { dir }).catch((error: unknown) => {
      if (!(error instanceof ExtensionError)) throw error
      return compileAll({ ...files, extensions: undefined }, { dir })
    })
    const { models, failed, errors } = compiled
    if (concernsEvents(failed, errors)) return { diagnostics: errors }
    const targets = [...models.values()].filter((model) => model.kind === 'events')
    return { targets, mistakes: errors }
  } catch (error) {
    return { error }
  }
}

/** Also where that is unknown. Events do not wait for the queries and sources of other models. */
function concernsEvents(failed: CompiledProject['failed'], errors: readonly Diagnostic[]): boolean {
  const models = [...failed.values()]
  if (models.some(({ kind }) => kind === 'events' || kind === null)) return true
  const elsewhere = new Set(models.flatMap(({ mistakes }) => mistakes))
  return errors.some(
    (error) => !elsewhere.has(error) && !OF_SOURCES.has(error.code) && !isMacro(error),
  )
}

const OF_SOURCES: ReadonlySet<Code> = new Set([
  'invalid-source',
  'extension-missing',
  'secret-not-set',
])

const isMacro = ({ source }: Diagnostic) => source.path.startsWith('macros/')
