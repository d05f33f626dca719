// The value of a cell that is written as the engine takes it.

import type { Type } from './expression.ts'
import { Clock, Day, Duration, exact, Instant, US_PER_DAY, type Value } from './values.ts'

export function cellValue(type: Type, cell: string | null): Value {
  if (cell === null) return null
  const days = (text: string) => BigInt(Date.parse(`${text}T00:00:00Z`)) / 86_400_000n
  const clock = (text: string) => {
    const [hours = '0', minutes = '0', seconds = '0'] = text.split(':')
    const { units, scale } = exact(seconds)
    return (
      (BigInt(hours) * 3600n + BigInt(minutes) * 60n) * 1_000_000n +
      units * 10n ** BigInt(6 - scale)
    )
  }
  switch (type) {
    case 'bool':
      return cell === 'true'
    case 'int':
    case 'decimal':
      return exact(cell)
    case 'double':
      return Number(cell.replace('inf', 'Infinity'))
    case 'day':
      return new Day(days(cell))
    case 'instant': {
      const [date = '', time = ''] = cell.split(' ')
      return new Instant(days(date) * US_PER_DAY + clock(time))
    }
    case 'clock':
      return new Clock(clock(cell))
    case 'duration': {
      const [count = '0', unit = ''] = cell.split(' ')
      const us = { days: US_PER_DAY, hours: 3_600_000_000n, seconds: 1_000_000n, microseconds: 1n }[
        unit
      ]!
      return new Duration(BigInt(count) * us)
    }
    default:
      return cell
  }
}
