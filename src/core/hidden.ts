// Values that must not be shown: what stands in their place in messages.

export interface HiddenValue {
  readonly value: string
  /** `${CRM_URL}` */
  readonly shown: string
}

/** A shorter one may be a part of ordinary words. */
const LONG = 6

/** The text without the values; the longest are looked for first, since one may be a part of another. */
export function hide(text: string, hidden: readonly HiddenValue[]): string {
  let found = text
  for (const { value, shown } of hidden.toSorted((a, b) => b.value.length - a.value.length)) {
    if (value === '') continue
    const escaped = value.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const pattern = value.length < LONG ? `(?<!\\w)${escaped}(?!\\w)` : escaped
    found = found.replaceAll(new RegExp(pattern, 'g'), () => shown)
  }
  return found
}
