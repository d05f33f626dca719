// How digits are shown: the text of `@format`. A browser loads this file, so it imports nothing.

interface NumberFormat {
  readonly decimals: number
  /** With the blank before it; empty: it is no percentage. */
  readonly percent: string
}

/** Of a form such as `0.00`, `#,##0.0` or `0.0%`; null: it is another one, which nothing of the program shows. */
export function readNumberFormat(format: string): NumberFormat | null {
  const found = /^(?:#,##)?0(?:\.(0{1,20}))?( ?%)?$/.exec(format)
  return found && { decimals: found[1]?.length ?? 0, percent: found[2] ?? '' }
}

/** The digits after the point, where a format says nothing but these; optional ones (`0.##`) count. */
export const decimalsOf = (format: string): number | undefined =>
  /^[#,0]*\.([#0]+)$/.exec(format)?.[1]?.length
