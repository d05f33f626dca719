// A run of a range that kills its process with SIGKILL at an event of the model: node killed-range-child.js <paths of the
// project as JSON> <event>

import type { ProjectPaths } from '../../src/core/project.ts'
import { runPipeline } from '../../src/pipeline/run.ts'
import { projectOf } from './handmade-models.ts'
import { appended, appendedFrom } from './killed-range-project.ts'
import { runDefaults } from './run-defaults.ts'

const [given = '', event = ''] = process.argv.slice(2)
const paths = JSON.parse(given) as ProjectPaths

await runPipeline({
  ...runDefaults(paths),
  project: projectOf(appendedFrom('b', 1, 2, 3, 4), appended),
  range: { start: '2024-01-02', end: '2024-01-04' },
  progress: (seen) => {
    if (seen.event === event && 'model' in seen && seen.model === 'mart.t')
      process.kill(process.pid, 'SIGKILL')
  },
})
