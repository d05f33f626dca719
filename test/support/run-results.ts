// What a run says of each model.

import type { Workspace } from './workspace.ts'

type Event = Readonly<Record<string, unknown>>

interface Results {
  /** Why a model was built or failed; `unchanged` when it was not built. */
  readonly models: Readonly<Record<string, string>>
  /** Everything that was printed. */
  readonly text: string
}

export async function runResults(
  space: Workspace,
  env: Readonly<Record<string, string>>,
  exitCode = 0,
): Promise<Results> {
  const { stdout, stderr } = await space.ok(['run', '--json'], { env, exitCode })
  const events = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Event)
  const models = events
    .filter(({ event }) => event === 'model-finished')
    .map(({ model, status, error, because }) => [
      model as string,
      status === 'unchanged' ? status : String(error ?? because),
    ])
  return { models: Object.fromEntries(models) as Record<string, string>, text: stdout + stderr }
}

export async function rowsOf(
  space: Workspace,
  env: Readonly<Record<string, string>>,
  query: string,
): Promise<readonly Event[]> {
  const { stdout } = await space.ok(['query', query, '--json'], { env })
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Event)
}
