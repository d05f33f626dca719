// Why a text that has the form of a date or a time is none.

const MONTHS =
  'January February March April May June July August September October November December'.split(' ')

const FORM = /^(?:(\d{4})-(\d\d)-(\d\d)(?:[T ]|$))?(?:(\d\d):(\d\d)(?::(\d\d))?)?/i

/**
 * Of a date, a time, or a date with a time, whatever follows: what of the text that is, and why there is none, such as
 * `February 2026 has 28 days`. null: each part is within its bounds, or the text has another form.
 */
export function noSuchTime(text: string): { readonly seen: string; readonly why: string } | null {
  const found = FORM.exec(text)
  const why = found === null ? null : reasonOf(found)
  return why === null ? null : { seen: found![0].replace(/[T ]$/i, ''), why }
}

function reasonOf([, year, month, day, hour, minute, second]: RegExpExecArray): string | null {
  if (year === '0000') return 'the years begin with 0001'
  if (year !== undefined) {
    const name = MONTHS[Number(month) - 1]
    if (name === undefined) return 'a year has the months 01 to 12'
    // Whether the years 1 to 99 are leap years is as with 1901 to 1999, for which JavaScript takes them.
    const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
    if (Number(day) > days) return `${name} ${year} has ${days} days`
    if (day === '00') return 'a month begins with day 01'
  }
  if (Number(hour) > 23) return 'a day has the hours 00 to 23'
  if (Number(minute) > 59) return 'an hour has the minutes 00 to 59'
  return Number(second) > 59 ? 'a minute has the seconds 00 to 59' : null
}
