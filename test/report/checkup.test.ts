import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Finding, lockFinding } from '../../src/report/checkup.ts'
import { workspace } from '../support/workspace.ts'

const HOUR_MS = 3_600_000
const heldFor = (hours: number) =>
  lockFinding('run lock', {
    name: 'run web-7:4711',
    alive: true,
    since: new Date(Date.now() - hours * HOUR_MS),
  })

test('doctor warns of a run that has worked for so long that upkeep may delete what it has written', () => {
  assert.is(heldFor(11).status, 'ok')
  const { status, message, next } = heldFor(14)
  assert.equal([status, message], ['warn', 'held by run web-7:4711 for 14 hours'])
  assert.match(next!, /eider maintain deletes what a run has not committed after lake\.keep_days/)
  assert.is(lockFinding('run lock', { name: 'a', alive: true }).status, 'ok')
})

test('doctor warns of keys of a lake in .env, which all commands read', async () => {
  const lake = 'lake: { catalog: postgres://e@127.0.0.1:1/lake, data: s3://shop-lake/prod/ }'
  await using space = await workspace({
    'eider.yml': `name: shop\ntargets:\n  prod:\n    ${lake}\n`,
  })
  const found = async () => {
    const { stdout } = await space.ok(['doctor', '--target', 'prod', '--json'], { exitCode: 1 })
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Partial<Finding>)
    return lines.find(({ check }) => check === 'lake keys')
  }
  assert.is((await found())?.status, 'ok')
  await space.write('.env', 'LAKE_PASSWORD=\nexport LAKE_S3_SECRET=hush\n')
  const keys = await found()
  assert.is(keys?.status, 'warn')
  assert.is(keys?.message, 'the daemon and the service read LAKE_S3_SECRET in .env without need')
})

test.run()
