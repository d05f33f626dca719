// Random values of every scalar type of the engine, as senders write them and as the engine shows them.

type Random = () => number

interface RandomType {
  /** JSON of a value, and what the engine shows of it as VARCHAR. */
  readonly next: (random: Random) => { readonly json: string; readonly text: string }
  /** Whether the engine's text is that of the value; equal when it is absent. */
  readonly isSame?: (shown: string, text: string) => boolean
}

const below = (random: Random, count: number) => Math.floor(random() * count)
const pick = <T>(random: Random, items: readonly T[]): T => items[below(random, items.length)]!
const digits = (random: Random, count: number) =>
  Array.from({ length: count }, () => below(random, 10)).join('')
const two = (value: number) => String(value).padStart(2, '0')

function integer(min: bigint, max: bigint): RandomType {
  return {
    next(random) {
      const far = BigInt(`1${digits(random, 45)}`)
      const near = [min, max, min + 1n, max - 1n, 0n, 1n, 9_007_199_254_740_993n].filter(
        (value) => value >= min && value <= max,
      )
      const value = random() < 0.3 ? pick(random, near) : min + (far % (max - min + 1n))
      const text = String(value)
      return {
        text,
        json: pick(random, [text, `"${text}"`, `${text}.0`, `${text}e0`, `${text}.00E+0`]),
      }
    },
  }
}

function decimal(width: number, scale: number): RandomType {
  return {
    next(random) {
      const whole = digits(random, below(random, width - scale + 1)).replace(/^0+/, '')
      const fraction = digits(random, scale)
      const sign = random() < 0.5 && /[1-9]/.test(whole + fraction) ? '-' : ''
      const shownWhole = whole === '' && width === scale ? '' : whole || '0'
      const value = `${sign}${whole || '0'}.${fraction}`
      const shifted = `${sign}${whole}${fraction}`.replace(/^(-?)0+(?=\d)/, '$1')
      return {
        text: `${sign}${shownWhole}.${fraction}`,
        json: pick(random, [value, `"${value}"`, `${shifted}e-${scale}`, `${value}00`]),
      }
    },
  }
}

function float(round: (value: number) => number): RandomType {
  return {
    next(random) {
      const bytes = new DataView(new ArrayBuffer(8))
      bytes.setUint32(0, random() * 2 ** 32)
      bytes.setUint32(4, random() * 2 ** 32)
      const any = bytes.getFloat64(0)
      const value = random() < 0.5 || !Number.isFinite(round(any)) ? (random() - 0.5) * 1e6 : any
      const text = pick(random, [String(value), '-0', '0.1', '5e-324', '1e37'])
      return { text, json: pick(random, [text, `"${text}"`]) }
    },
    // 0 and -0 are one value for the engine where it compresses what it stores.
    isSame: (shown, text) => round(Number(shown)) === round(Number(text)),
  }
}

const words = (make: (random: Random) => string): RandomType => ({
  next(random) {
    const text = make(random)
    return { text, json: JSON.stringify(text) }
  },
})

const date = (random: Random) =>
  `${String(1 + below(random, 9999)).padStart(4, '0')}-${two(1 + below(random, 12))}-${two(1 + below(random, 28))}`
const clock = (random: Random) =>
  `${two(below(random, 24))}:${two(below(random, 60))}:${two(below(random, 60))}`
const fraction = (random: Random, most: number) => {
  const kept = digits(random, below(random, most + 1)).replace(/0+$/, '')
  return kept === '' ? '' : `.${kept}`
}
const timestamp = (most: number, day = date): RandomType => ({
  next(random) {
    const [on, at] = [day(random), `${clock(random)}${fraction(random, most)}`]
    return {
      text: `${on} ${at}`,
      json: pick(random, [`"${on}T${at}"`, `"${on} ${at}"`, `"${on}T${at}Z"`]),
    }
  },
})

function number(random: Random): string {
  const plain = `${1 + below(random, 9)}${digits(random, below(random, 20))}`
  return pick(random, [
    plain,
    `-${plain}`,
    `${plain}.${digits(random, 3)}0`,
    `0.${digits(random, 20)}`,
    '-0',
    '-0.0',
    '1E+2',
    '1e400',
    '1e-400',
    '12.50',
    '9007199254740993',
    '9007199254740993.0',
    `${plain}e${below(random, 400)}`,
  ])
}

function json(random: Random, depth: number): string {
  const kind = depth === 0 ? 0 : random()
  if (kind < 0.5)
    return pick(random, [number(random), number(random), '"1.50"', 'true', '"\\"\\\\\\n é"'])
  const items = Array.from({ length: below(random, 4) }, () => json(random, depth - 1))
  if (kind < 0.75) return `[${['null', ...items].join(',')}]`
  return `{${items.map((item, i) => `${JSON.stringify(pick(random, ['a', 'x', 'e', '$exact', '"', '']) + i)}:${item}`).join(',')}}`
}

const text = (random: Random) =>
  Array.from({ length: below(random, 12) }, () =>
    pick(random, [
      'a',
      'B',
      '"',
      "'",
      '\\',
      '\n',
      '\t',
      ' ',
      ',',
      '{',
      '}',
      '[',
      '=',
      ':',
      'é',
      '😀',
      '\0',
      'NULL',
      '\u2028',
    ]),
  ).join('')

export const randomValues: Readonly<Record<string, RandomType>> = {
  BOOLEAN: words((random) => pick(random, ['true', 'false'])),
  TINYINT: integer(-(2n ** 7n), 2n ** 7n - 1n),
  SMALLINT: integer(-(2n ** 15n), 2n ** 15n - 1n),
  INTEGER: integer(-(2n ** 31n), 2n ** 31n - 1n),
  BIGINT: integer(-(2n ** 63n), 2n ** 63n - 1n),
  HUGEINT: integer(-(2n ** 127n), 2n ** 127n - 1n),
  UTINYINT: integer(0n, 2n ** 8n - 1n),
  USMALLINT: integer(0n, 2n ** 16n - 1n),
  UINTEGER: integer(0n, 2n ** 32n - 1n),
  UBIGINT: integer(0n, 2n ** 64n - 1n),
  UHUGEINT: integer(0n, 2n ** 128n - 1n),
  BIGNUM: integer(-(10n ** 44n), 10n ** 44n),
  'DECIMAL(4,2)': decimal(4, 2),
  'DECIMAL(18,4)': decimal(18, 4),
  'DECIMAL(38,10)': decimal(38, 10),
  'DECIMAL(38,38)': decimal(38, 38),
  FLOAT: float(Math.fround),
  DOUBLE: float((value) => value),
  VARCHAR: {
    next: (random) => {
      const token = number(random)
      return random() < 0.3 ? { text: token, json: token } : words(text).next(random)
    },
  },
  JSON: {
    next: (random) => {
      const value = json(random, 3)
      return { text: value, json: value }
    },
  },
  BLOB: words((random) => digits(random, below(random, 20))),
  BIT: words(
    (random) =>
      `1${digits(random, below(random, 70)).replace(/\d/g, (digit) => String(Number(digit) % 2))}`,
  ),
  UUID: words((random) =>
    'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'.replace(/x/g, () => below(random, 16).toString(16)),
  ),
  DATE: words(date),
  TIME: words((random) => clock(random) + fraction(random, 6)),
  TIME_NS: words((random) => clock(random) + fraction(random, 9)),
  TIMETZ: words((random) => `${clock(random)}${fraction(random, 6)}+${two(below(random, 16))}`),
  TIMESTAMP: timestamp(6),
  TIMESTAMP_S: timestamp(0),
  TIMESTAMP_MS: timestamp(3),
  TIMESTAMP_NS: timestamp(
    9,
    (random) => `${1678 + below(random, 580)}-01-${two(1 + below(random, 31))}`,
  ),
  TIMESTAMPTZ: {
    next(random) {
      const value = `${date(random)} ${clock(random)}${fraction(random, 6)}`
      return {
        text: `${value}+00`,
        json: pick(random, [`"${value}"`, `"${value}Z"`, `"${value}+00:00"`]),
      }
    },
  },
  INTERVAL: words(
    (random) => `${2 + below(random, 99)} days ${clock(random)}${fraction(random, 6)}`,
  ),
  "ENUM('a', 'b c', 'it''s')": words((random) => pick(random, ['a', 'b c', "it's"])),
  GEOMETRY: words((random) => `POINT (${below(random, 1000)} ${below(random, 1000)})`),
}
