// The lineage of a run, where the settings of a project or the environment name a recipient.

import type { HiddenValue } from '../core/hidden.ts'
import type { CompiledProject } from '../core/model.ts'
import { bindingsVersion } from '../duckdb/bindings-version.ts'
import type { LineageOfRun } from '../exchange/lineage/open-lineage.ts'
import type { Project } from '../project/project.ts'
import { secretSettings, type Settings } from '../project/settings.ts'

/** null: nobody wants to know. The tables of targets are not the same, so each has a namespace of its own. */
export async function lineageOf(
  { name, target, settings, unusable, paths }: Project,
  compiled: CompiledProject,
  env: Readonly<Record<string, string | undefined>>,
  version: string,
): Promise<LineageOfRun | null> {
  const { 'openlineage.url': url, 'openlineage.file': file, 'openlineage.token': token } = settings
  const problems = unusable.filter(({ setting }) => setting.startsWith('openlineage.'))
  const isUrlWrong = problems.some(({ setting }) => setting === 'openlineage.url')
  const problem = url !== null || isUrlWrong ? (problems[0]?.problem ?? null) : null
  if (url === null && file === null && problem === null) return null
  const { openLineage } = await import('../exchange/lineage/open-lineage.ts')
  const ofTarget = target === null ? name : `${name}.${target}`
  const namespace = settings['openlineage.namespace'] ?? ofTarget
  return openLineage(compiled, {
    settings: { url, token, namespace, file, problem },
    dir: paths.dir,
    env,
    hidden: hiddenOf(settings, compiled),
    versions: { eider: version, duckdb: bindingsVersion().replace(/-.*$/, '') },
  })
}

/** What is secret in the settings, and what the environment gives to sources: somebody may have written it into a model. */
function hiddenOf(values: Settings, { external }: CompiledProject): readonly HiddenValue[] {
  const secrets = secretSettings.flatMap((name) => {
    const value = values[name]
    return typeof value === 'string' ? [{ value, shown: '***' }] : []
  })
  return [...secrets, ...(external?.sources ?? []).flatMap(({ hidden }) => hidden)]
}
