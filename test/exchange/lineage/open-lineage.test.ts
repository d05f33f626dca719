import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Logger } from '../../../src/core/logger.ts'
import type { CompiledProject, Model } from '../../../src/core/model.ts'
import type { ModelName } from '../../../src/core/names.ts'
import type { RunEvent } from '../../../src/core/report/progress.ts'
import { openLineage } from '../../../src/exchange/lineage/open-lineage.ts'
import { eventsIn, told } from '../../support/open-lineage.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

test('an event that cannot be made is lost, and the run goes on', async () => {
  await using dir = await temporaryDirectory()
  const name = 'core.one' as ModelName
  const model = {
    name,
    columns: [],
    sources: [],
    dependsOn: [],
    files: [],
    owner: null,
    description: null,
  }
  const project = {
    models: new Map([[name, model as unknown as Model]]),
    lineage: () => {
      throw new RangeError('no room for S3cret')
    },
  } as unknown as CompiledProject
  const lineage = openLineage(project, {
    settings: {
      url: null,
      token: null,
      namespace: 'n',
      file: dir.path + '/l.ndjson',
      problem: null,
    },
    dir: dir.path,
    env: {},
    versions: { eider: '1', duckdb: '1' },
    hidden: [{ value: 'S3cret', shown: '***' }],
  })!
  lineage.note({ event: 'run-started', run_id: 'r' } as RunEvent)
  lineage.note({
    event: 'model-finished',
    model: name,
    status: 'built',
    because: '',
    ms: 1,
  } as RunEvent)
  const warnings: unknown[] = []
  const warn: Logger['warn'] = (event, fields) => warnings.push([event, fields])
  await lineage.send(true, { warn } as Logger)
  const problem = 'the event cannot be made: RangeError: no room for ***'
  assert.equal(warnings, [['lineage-not-sent', { to: 'file', lost: 1, events: 4, problem }]])
  const events = eventsIn(readFileSync(dir.path + '/l.ndjson', 'utf8'))
  assert.equal(told(events), ['START run', 'START core.one', 'COMPLETE run'])
})

test.run()
