// A project of 50 models of all kinds over one source, and a process that builds one generation of it:
//
//   node many-models.js <paths of the project as JSON> <generation>

import type { Model } from '../../src/core/model.ts'
import type { ProjectPaths } from '../../src/core/project.ts'
import { runPipeline } from '../../src/pipeline/run.ts'
import { runDefaults } from './run-defaults.ts'
import { projectOf, query } from './handmade-models.ts'

export const ROWS = 200
export const kindOf = (i: number) => (['table', 'append', 'merge', 'scd2', 'view'] as const)[i % 5]!
export const nameOf = (i: number) => `mart.m${i}`
export const LAST = 49

/** In each generation the source gives the same keys with other values. */
export function models(generation: number): readonly Model[] {
  const text = `select i as id, ${generation} as generation from range(${ROWS}) t(i)`
  const source = query('raw.s', text)
  const others = Array.from({ length: LAST }, (_, i) => {
    const kind = kindOf(i)
    const reads = kind === 'table' && i >= 5 ? nameOf(i - 5) : 'raw.s'
    return query(nameOf(i), `from ${reads}`, {
      kind,
      reads: [reads],
      ...(kind === 'merge' || kind === 'scd2' ? { key: ['id'] } : {}),
      ...(kind === 'append' ? { incremental: 'generation' } : {}),
    })
  })
  return [source, ...others]
}

const [script = '', paths, generation] = process.argv.slice(1)
if (script.endsWith('many-models.js') && paths !== undefined) {
  await runPipeline({
    ...runDefaults(JSON.parse(paths) as ProjectPaths),
    lockWaitMs: 10_000,
    project: projectOf(...models(Number(generation))),
    threads: null,
    modelsAtOnce: Number(generation) % 2 === 0 ? 1 : 4,
    progress: (event) => {
      if (event.event === 'model-started' || event.event === 'model-finished')
        process.send?.({ model: event.model, isFinished: event.event === 'model-finished' })
    },
  })
  process.disconnect?.()
}
