// Publishes one state after the other until it is killed: node endless-runs-child.js <project directory> <first generation>

import { runPipeline } from '../../src/pipeline/run.ts'
import { runDefaults, pathsOf } from './run-defaults.ts'
import { projectOf, query } from './handmade-models.ts'

const [dir = '', first = '0'] = process.argv.slice(2)

for (let generation = Number(first); ; generation++) {
  const text = `select i as id, ${generation} as generation from range(5000) t(i)`
  const models = ['mart.a', 'mart.b'].map((name) => query(name, text, { expose: ['id'] }))
  await runPipeline({ ...runDefaults(pathsOf(dir)), project: projectOf(...models) })
  process.send?.(generation)
}
