// How numbers and times are written for people. What came from the service keeps its digits.

import { readNumberFormat } from '../../../core/number-format.ts'

/** Digits in groups of three with a thin space, which neither language nor clipboard takes for a point. */
export function groupDigits(digits: string | number): string {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(String(digits)) ?? []
  if (whole === '') return String(digits)
  return sign + whole.replace(/\B(?=(?:\d{3})+$)/g, '\u202F') + rest
}

/**
 * As a `@format` such as `0.00`, `#,##0.0` or `0.0%` says. A format of another form, and what is no number, stay as they are
 * with their digits in groups.
 */
export function formatNumber(text: string, format: string | undefined): string {
  const found = readNumberFormat(format ?? '')
  if (found === null || !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return groupDigits(text)
  const { decimals: digits, percent } = found
  const style = percent === '' ? 'decimal' : 'percent'
  const options = { style, minimumFractionDigits: digits, maximumFractionDigits: digits } as const
  const written = new Intl.NumberFormat('en', { ...options, useGrouping: false })
  // A text keeps all of its digits, where a number would be rounded first.
  const rounded = written.format(text as `${number}`).replace('%', '')
  return groupDigits(rounded) + percent
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

/** `P1DT2H` is "1 d 2 h"; what is no duration stays as it is. */
export function sayDuration(text: string): string {
  const found = /^(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(\.\d+)?S)?)?$/.exec(text)
  if (found === null) return text
  const [, sign = '', days = 0, hours = 0, minutes = 0, whole = 0, part = ''] = found
  // The service gives seconds alone, however many. More than a double counts exactly stay as they are.
  const total = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(whole)
  if (!Number.isSafeInteger(total)) return text
  const parts = [
    [Math.floor(total / 86_400), 'd'],
    [Math.floor(total / 3_600) % 24, 'h'],
    [Math.floor(total / 60) % 60, 'min'],
  ] as const
  const said = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`)
  const rest = part.replace(/\.?0+$/, '')
  if (total % 60 > 0 || rest !== '' || said.length === 0) said.push(`${total % 60}${rest} s`)
  return sign + said.join(' ')
}

const MOST_JSON = 1_000_000

/** JSON with a line for each member, without a digit changed; undefined for any other text. */
export function unfoldJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > MOST_JSON) return undefined
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  let depth = 0
  const line = () => `\n${'  '.repeat(depth)}`
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|\s+|[[{]\s*[\]}]|[[{\]},:]/g, (part) => {
    if (part.startsWith('"')) return part
    if (part.trim() === '') return ''
    if (/^[[{]\s*[\]}]$/.test(part)) return part[0]! + part.at(-1)!
    if (part === '[' || part === '{') {
      depth += 1
      return part + line()
    }
    if (part === ']' || part === '}') {
      depth -= 1
      return line() + part
    }
    return part === ',' ? part + line() : ': '
  })
}

export function showBytes(count: number): string {
  const units = ['kB', 'MB', 'GB', 'TB']
  if (count < 1_000) return `${count} B`
  const power = Math.min(units.length, Math.floor(Math.log10(count) / 3))
  const value = count / 1_000 ** power
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power - 1]}`
}
