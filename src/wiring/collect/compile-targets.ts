// The events models of a project, compiled in a separate process (compile-child.ts). DuckDB stays out of the daemon
// that way: loaded once, it would keep some 50 MB for as long as the daemon lives, which does not need it again.

import { fork } from 'node:child_process'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Diagnostic, DiagnosticsError } from '../../core/diagnostics.ts'
import type { EventsModel } from '../../core/model.ts'
import type { ProjectFiles } from '../../core/project.ts'
import type { Project } from '../../project/project.ts'

/** What the daemon says to the process. */
export interface Compiling {
  readonly files: ProjectFiles
  readonly dir: string
}

/** What the process answers, once. */
export type Compiled =
  | { readonly targets: readonly EventsModel[]; readonly mistakes: readonly Diagnostic[] }
  | { readonly diagnostics: readonly Diagnostic[] }
  | { readonly error: unknown }

const here = fileURLToPath(import.meta.url)
const CHILD = join(dirname(here), `compile-child${extname(here)}`)

/**
 * The targets, and the mistakes of other models. Throws as compile() does for mistakes in events models, and an AbortError
 * when `signal` asks to stop.
 */
export async function compileTargets(project: Project, signal: AbortSignal) {
  const compiled = await compileApart({ files: project.files, dir: project.paths.dir }, signal)
  if ('diagnostics' in compiled) throw new DiagnosticsError(compiled.diagnostics)
  if ('error' in compiled) throw compiled.error
  const { targets, mistakes } = compiled
  return { targets: new Map(targets.map((model) => [model.name, model])), mistakes }
}

function compileApart(given: Compiling, signal: AbortSignal): Promise<Compiled> {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, {
      cwd: given.dir,
      serialization: 'advanced', // preserves what JSON cannot express: maps, large integers, shared sources
      detached: true, // Ctrl-C is for the daemon, which then ends this process by `signal`
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      signal,
      killSignal: 'SIGKILL',
    })
    child.on('error', reject)
    child.on('message', resolve)
    child.on('exit', (code, name) => {
      reject(new Error(`the compiler process ended with ${name ?? `exit code ${code}`}`))
    })
    child.send(given)
  })
}
