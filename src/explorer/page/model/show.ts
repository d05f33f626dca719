// How numbers and times are written for people. What came from the service keeps its digits.

/** Digits in groups of three with a thin space, which neither language nor clipboard takes for a point. */
export function groupDigits(digits: string | number): string {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(String(digits)) ?? []
  if (whole === '') return String(digits)
  return sign + whole.replace(/\B(?=(?:\d{3})+$)/g, '\u202F') + rest
}

/** "3 min ago". The time itself belongs next to it. */
export function ago(fromMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - fromMs) / 1_000))
  if (seconds < 60) return 'just now'
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.round(minutes / 60)
  if (hours < 48) return `${hours} h ago`
  return `${Math.round(hours / 24)} days ago`
}

/** The time as it was sent, with a space for the T: all times of the service are UTC. */
export function showTime(iso: string): string {
  return iso.replace(/^(\d{4}-\d\d-\d\d)T/, '$1 ')
}

/** "17:40" of today, else with its day; in UTC, as all times of the service are. */
export function shortTime(iso: string, nowMs: number): string {
  const today = new Date(nowMs).toISOString().slice(0, 10)
  return iso.startsWith(today) ? iso.slice(11, 16) : showTime(iso).slice(0, 16)
}

export function localTime(iso: string): string | undefined {
  const time = new Date(iso)
  if (Number.isNaN(time.getTime())) return undefined
  // One for all: to make it takes as long as to write a hundred times.
  local ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })
  return local.format(time)
}

let local: Intl.DateTimeFormat | undefined

export function showBytes(count: number): string {
  const units = ['kB', 'MB', 'GB', 'TB']
  if (count < 1_000) return `${count} B`
  const power = Math.min(units.length, Math.floor(Math.log10(count) / 3))
  const value = count / 1_000 ** power
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power - 1]}`
}
