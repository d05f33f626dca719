// Publishes one state after the other until it is killed: node endless-runs.js <project directory> <first generation>

import { runPipeline } from '../../src/pipeline/run.ts'
import { defaults, pathsOf, projectOf, query } from './pipeline-fixture.ts'

const [dir = '', first = '0'] = process.argv.slice(2)

for (let generation = Number(first); ; generation++) {
  const text = `select i as id, ${generation} as generation from range(5000) t(i)`
  const models = ['mart.a', 'mart.b'].map((name) => query(name, text, { expose: ['id'] }))
  await runPipeline({ ...defaults(pathsOf(dir)), project: projectOf(...models) })
  process.send?.(generation)
}
