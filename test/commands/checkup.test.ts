import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lockFinding } from '../../src/commands/checkup.ts'

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

test.run()
