// What an answer costs a service in processor time, for one form of a request and for the best one in turn.

import { processorMsOf } from '../../support/processor-time.ts'
import { type Figure, interleaved } from '../figure.ts'
import { type Load, measureLoad } from '../load.ts'

export interface Measuring {
  readonly pid: number
  readonly port: number
  readonly quick: boolean
}

/** One form of a request. `each`: what its cost is shared between, such as the bytes of its body. */
export interface Shape extends Pick<Load, 'request' | 'secret'> {
  readonly keys?: number
  readonly status?: number
  readonly each?: number
}

const CONNECTIONS = 16

/** Microseconds of processor time, of the service with its children. */
async function costOf(
  { pid, port, quick }: Measuring,
  { request, keys, secret, status = 200, each = 1 }: Shape,
): Promise<number> {
  const load = { port, request, status, connections: CONNECTIONS, pipelined: 1 }
  const before = await processorMsOf(pid)
  const { allAnswers } = await measureLoad({
    ...load,
    durationMs: quick ? 500 : 2_000,
    ...(keys === undefined ? {} : { keys }),
    ...(secret === undefined ? {} : { secret }),
  })
  return ((await processorMsOf(pid)) - before) * (1_000 / allAnswers / each)
}

/** `best` may be asked of another service. Each is asked once before, since the first requests of a process cost more. */
export async function shapeFigure(
  name: string,
  bound: Figure['bound'],
  [measuring, shape]: readonly [Measuring, Shape],
  [other, best]: readonly [Measuring, Shape],
): Promise<Figure> {
  await costOf(measuring, shape)
  await costOf(other, best)
  const costs = await interleaved(
    measuring.quick ? 1 : 5,
    () => costOf(measuring, shape),
    () => costOf(other, best),
  )
  const isTime = bound?.at !== 'least'
  const ratio = isTime ? costs.ours / costs.baseline : costs.baseline / costs.ours
  const digits = (cost: number) => (cost < 1 ? cost.toFixed(4) : cost.toFixed(1))
  return {
    name,
    ratio,
    bound,
    measured: `${digits(costs.ours)} against ${digits(costs.baseline)} us of processor time`,
  }
}
