// The metrics of several workers as those of one service.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Family, metricsText } from '../../src/http/prometheus.ts'
import type { ToWorker } from '../../src/workers/messages.ts'
import { WorkerCounts } from '../../src/workers/counts.ts'

const families = (requests: number, open: number, age: number): readonly Family[] => [
  { name: 'r', type: 'counter', help: 'R', samples: [[{ status: 200 }, requests]], ofAll: 'sum' },
  { name: 't', type: 'histogram', help: 'T', samples: [[{}, requests, '_sum']], ofAll: 'sum' },
  { name: 'o', type: 'gauge', help: 'O', samples: [[{}, open]], ofAll: 'sum' },
  { name: 'a', type: 'gauge', help: 'A', samples: [[{}, age]], ofAll: 'most' },
]

const values = (all: readonly Family[]) =>
  metricsText(all)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))

test('counts are added up, ages are not, and a count of the dead stays', () => {
  const sums: (readonly string[])[] = []
  const asked: (readonly [string, number])[] = []
  const counts = new WorkerCounts<string>((worker, message: ToWorker) => {
    if (message.say === 'sum') sums.push(values(message.all))
    if (message.say === 'count') asked.push([worker, message.ask])
  })
  for (const worker of ['a', 'b', 'c']) counts.join(worker)
  counts.addUp('a', 1, families(10, 1, 5))
  assert.equal(
    asked.map(([worker]) => worker),
    ['b', 'c'],
  )
  const ask = asked[0]![1]
  counts.said('b', ask, families(20, 2, 7))
  assert.is(sums.length, 0)
  counts.said('c', ask, families(30, 0, 6))
  assert.equal(sums.pop(), ['r{status="200"} 60', 't_sum 60', 'o 3', 'a 7'])
  counts.leave('b')
  counts.addUp('a', 2, families(11, 1, 8))
  counts.leave('c') // before it has answered
  assert.equal(sums.pop(), ['r{status="200"} 61', 't_sum 61', 'o 1', 'a 8'])
  counts.addUp('a', 3, families(12, 0, 9))
  assert.equal(sums.pop(), ['r{status="200"} 62', 't_sum 62', 'o 0', 'a 9'])
})

test.run()
