// Makes the intervals of matches light. Ohm makes one for each node that an action is given, and defines a property of it
// by a call that takes longer than all else of reading the node.

import type { Grammar, Interval } from 'ohm-js'

/** What the types of ohm-js leave out. */
interface Parts {
  readonly _sourceString: string
  readonly startIdx: number
  subInterval(offset: number, length: number): Interval
}

/** Changes what the intervals of all grammars inherit from. They stay what they were to every reader. */
export function lightenIntervals(grammar: Grammar): void {
  const match = grammar.match('') as unknown as { getInterval(): Interval }
  const shared = Object.getPrototypeOf(match.getInterval()) as Parts
  function Light(this: Record<string, unknown>, source: string, from: number, to: number) {
    this['_sourceString'] = source
    this['startIdx'] = from
    this['endIdx'] = to
  }
  Light.prototype = shared
  const Made = Light as unknown as new (source: string, from: number, to: number) => Interval
  shared.subInterval = function subInterval(this: Parts, offset, length) {
    const from = this.startIdx + offset
    return new Made(this._sourceString, from, from + length)
  }
}
