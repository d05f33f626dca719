// The lineage of a run, where the settings of a project or the environment name a recipient.

import type { CompiledProject } from '../core/model.ts'
import { bindingsVersion } from '../duckdb/bindings-version.ts'
import type { LineageOfRun } from '../exchange/lineage/open-lineage.ts'
import type { Project } from '../project/project.ts'

/** null: nobody wants to know. The tables of targets are not the same, so each has a namespace of its own. */
export async function lineageOf(
  { name, target, settings, paths }: Project,
  compiled: CompiledProject,
  env: Readonly<Record<string, string | undefined>>,
  version: string,
): Promise<LineageOfRun | null> {
  const { 'openlineage.url': url, 'openlineage.file': file, 'openlineage.token': token } = settings
  if (url === null && file === null) return null
  const { openLineage } = await import('../exchange/lineage/open-lineage.ts')
  const ofTarget = target === null ? name : `${name}.${target}`
  const namespace = settings['openlineage.namespace'] ?? ofTarget
  return openLineage(compiled, {
    settings: { url, token, namespace, file },
    dir: paths.dir,
    env,
    versions: { eider: version, duckdb: bindingsVersion().replace(/-.*$/, '') },
  })
}
