// Literals of each type: ordinary values and those at the edges.

import { constant, type Expression, type Type } from './expression.ts'
import { printClock, printDay } from './times.ts'
import { Clock, Day, Duration, exact, Instant, US_PER_DAY } from './values.ts'

const exacts = (type: Type, ...texts: readonly string[]) =>
  texts.map((text) => constant(type, text, exact(text)))

const daysAtEdges = [0n, 19_782n, -719_162n, 2_932_896n, -1n]

const durations: readonly (readonly [text: string, us: bigint])[] = [
  ['PT0S', 0n],
  ['P1D', 86_400_000_000n],
  ['-PT1H', -3_600_000_000n],
  ['PT0.000001S', 1n],
  ['P1DT2H3M4.5S', 93_784_500_000n],
]

export const literals: Readonly<Record<Type, readonly Expression[]>> = {
  bool: (['true', 'FALSE', 'false', 'True'] as const).map((text) =>
    constant('bool', text, text.toLowerCase() === 'true'),
  ),
  int: [
    ...exacts('int', '0', '1', '-1', '2', '3', '7', '-128', '127', '255', '32768', '2147483647'),
    ...exacts(
      'int',
      '-2147483648',
      '9007199254740993',
      '9223372036854775807',
      '-9223372036854775808',
    ),
  ],
  decimal: [
    ...exacts('decimal', '0.5', '-0.5', '1.5', '2.50', '-10.25', '0.0001', '12345678901234567890'),
    ...exacts('decimal', '99999999999999.9999', '0.0'),
  ],
  double: ['1e0', '-2.5e-1', '5e-1', '1e300', 'NaN', 'INF', '-INF', '0e0', '3e0'].map((text) =>
    constant('double', text, Number(text.replace('INF', 'Infinity'))),
  ),
  text: ['', 'a', 'A', 'ab', 'ß', 'Ä', '😀', "'", '%', '_', ' ', 'b_c', 'O', '\u00a0', 'zz'].map(
    (text) => constant('text', `'${text.replaceAll("'", "''")}'`, text),
  ),
  day: [...daysAtEdges, 19_723n, 11_016n].map((days) =>
    constant('day', printDay(days), new Day(days)),
  ),
  instant: daysAtEdges.flatMap((days) =>
    [0n, 1n, 37_800_000_000n, 86_399_999_999n].map((us) =>
      constant(
        'instant',
        `${printDay(days)}T${printClock(us)}Z`,
        new Instant(days * US_PER_DAY + us),
      ),
    ),
  ),
  clock: [0n, 1n, 37_800_000_000n, 86_399_999_999n, 500_000n].map((us) =>
    constant('clock', printClock(us), new Clock(us)),
  ),
  duration: durations.map(([text, us]) =>
    constant('duration', `duration'${text}'`, new Duration(us)),
  ),
  guid: ['01234567-89ab-cdef-0123-456789abcdef', 'ffffffff-ffff-ffff-ffff-ffffffffffff'].map(
    (text) => constant('guid', text, text),
  ),
}
