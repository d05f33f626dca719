import type { CompiledProject, Model } from './model.ts'

/** The model, and the views through which it reads, directly or by way of others; each once, however many ways lead to it. */
export function withViews(
  { models }: Pick<CompiledProject, 'models'>,
  model: Model,
): readonly Model[] {
  const found = new Set([model])
  for (const { dependsOn } of found)
    for (const name of dependsOn) {
      const input = models.get(name)
      if (input?.kind === 'view') found.add(input)
    }
  return [...found]
}

/** Whether the rows of the model may be others each time that they are read. */
export const readsVolatile = (project: Pick<CompiledProject, 'models'>, model: Model): boolean =>
  withViews(project, model).some(({ volatile }) => volatile)
