import type { HeldTarget } from '../pipeline/hold-target.ts'
import type { Project } from '../project/project.ts'
import type { WriteOptions } from '../store/warehouse.ts'
import { runOptionsOf } from './run-options.ts'

/**
 * For a run whose project is being compiled. null for a lake, too: which lease a run of it needs depends on the models that
 * it is about.
 */
export async function openAhead(
  project: Project,
  options: Pick<WriteOptions, 'lockWaitMs' | 'signal'>,
): Promise<HeldTarget | null> {
  const { paths } = project
  if (paths.lake !== undefined) return null
  const [{ holdAhead }, { openStore }] = await Promise.all([
    import('../pipeline/hold-target.ts'),
    import('../store/open.ts'),
  ])
  return holdAhead(openStore(paths), { ...runOptionsOf(project), ...options })
}
