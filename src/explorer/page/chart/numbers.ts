// Numbers as the service sends them: 64-bit integers and decimals are texts with all their digits. Sums of them are
// exact too, since the bar of "others" is what is left of a total.

interface Exact {
  readonly digits: bigint
  /** Digits after the point. */
  readonly scale: number
}

/** The sum of some values less that of others; nulls count nothing. Exact unless one of them is a double. */
export function totalOf(added: readonly unknown[], subtracted: readonly unknown[] = []): string {
  const signed = (values: readonly unknown[], sign: 1 | -1) =>
    values
      .filter((value) => value !== null && value !== undefined)
      .map((value) => ({ value, sign, exact: exactOf(value) }))
  const all = [...signed(added, 1), ...signed(subtracted, -1)]
  let scale = 0
  for (const { exact } of all) {
    if (exact === null)
      return String(all.reduce((sum, { value, sign }) => sum + sign * Number(value), 0))
    scale = Math.max(scale, exact.scale)
  }
  const digits = all.reduce(
    (sum, { sign, exact }) =>
      sum + BigInt(sign) * exact!.digits * 10n ** BigInt(scale - exact!.scale),
    0n,
  )
  return decimalText({ digits, scale })
}

/** null for what is no plain decimal number, as NaN and numbers with an exponent. */
function exactOf(value: unknown): Exact | null {
  const [, sign = '', whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value)) ?? []
  if (whole === undefined) return null
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length }
}

function decimalText({ digits, scale }: Exact): string {
  const sign = digits < 0n ? '-' : ''
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  return scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`
}
