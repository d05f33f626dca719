// Values as other languages and locales write them, and how OData writes the same.

const DAY = String.raw`\d{4}-\d\d-\d\d`
const CLOCK = String.raw`\d\d:\d\d(?::\d\d(?:\.\d+)?)?`
const NO_OFFSET = new RegExp(`^(${DAY})T(${CLOCK})(?:([+ -]\\d\\d)(\\d\\d))?(?![\\w:.])`, 'i')
const SPACED = new RegExp(`^(${DAY}) +(${CLOCK})(Z|[+-]\\d\\d:\\d\\d)?(?![\\w:.])`, 'i')
const SHORT_DATE = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?![\w:.-])/
const DAY_FIRST = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?![\w.])/
const SLASHED = /^\d{1,2}\/\d{1,2}\/\d{4}(?!\w)/
const DECIMAL_COMMA = /^(-?\d+),(\d+)(?![\w.,])/

/** How far before a mistake its value begins at most. */
const LONGEST_VALUE = 40

/**
 * What to write for the value of `text` that the character at `position` is a part of, where the grammar ends to
 * understand it; null for a value that nobody is known to write.
 */
export function foreignValue(text: string, position: number): string | null {
  const before = text.slice(Math.max(0, position - LONGEST_VALUE), position)
  // A date that stands before a time has been read already.
  const [own] = /(?:\d{4}-\d\d-\d\d +)?[\d.,:/T+-]*$/i.exec(before)!
  const value = text.slice(position - own.length)
  return timeOf(value) ?? dateOf(value) ?? numberOf(value)
}

function timeOf(value: string): string | null {
  const [, day, clock, hours, minutes] = NO_OFFSET.exec(value) ?? []
  if (day !== undefined && clock !== undefined) {
    const time = `${day}T${clock}`
    if (hours !== undefined)
      return `an offset has a colon: ${time}${hours.replace(' ', '+')}:${minutes}`
    return `a time has an offset: append Z for UTC (${time}Z), or one such as %2B02:00`
  }
  const [, date, time, offset = 'Z'] = SPACED.exec(value) ?? []
  return date === undefined ? null : `a date and a time are joined by "T": ${date}T${time}${offset}`
}

function dateOf(value: string): string | null {
  const [, year, month, day] = SHORT_DATE.exec(value) ?? []
  if (year !== undefined) return dateHint(year, month!, day!)
  const [, first, second, last] = DAY_FIRST.exec(value) ?? []
  if (last !== undefined) return dateHint(last, second!, first!)
  return SLASHED.test(value) ? 'a date is written as year, month and day: 2026-01-31' : null
}

const dateHint = (year: string, month: string, day: string) =>
  `a date is written ${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`

function numberOf(value: string): string | null {
  const [, whole, fraction] = DECIMAL_COMMA.exec(value) ?? []
  return whole === undefined ? null : `a decimal point is ".": write ${whole}.${fraction}`
}

/** What to write for a word that is a value in another language; null for any other word. */
export function foreignWord(word: string): string | null {
  if (/^(?:null|none|nil|undefined)$/i.test(word)) return 'for no value write null'
  if (/^(?:now|sysdate|current_timestamp)$/i.test(word)) return 'for this moment write now()'
  return /^(?:today|current_date)$/i.test(word) ? 'for this day in UTC write date(now())' : null
}

/** A duration without its prefix, which the grammar takes for a name. */
export const isBareDuration = (word: string): boolean =>
  /^P(?=\d|T\d)(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/.test(word)
