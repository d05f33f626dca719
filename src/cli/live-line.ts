// The line below all others, which says what a run is doing and for how long; drawn again and again on a terminal.

import { cut, terminalWidth } from './cells.ts'
import { type Output, widthOfTerminal } from './paint.ts'
import { count, grouped } from '../core/counts.ts'

/** What is being done now, in the order in which it began. */
export interface Doing {
  readonly name: string
  readonly startedMs: number
  /** A flush and a publication know how far they are. */
  readonly share?: {
    readonly done: number
    readonly total: number
    readonly of: 'event' | 'set' | 'piece'
  }
}

export interface LiveState {
  readonly what: 'starting' | 'flushing' | 'building' | 'publishing'
  readonly doing: readonly Doing[]
  readonly models: { readonly done: number; readonly total: number }
  readonly startedMs: number
  readonly isStopping: boolean
}

const GAP = '  '
const STOPS = 'Ctrl-C stops after a rollback'
/** What remains of a name when the line has no room for it. */
const LEAST_NAME_COLUMNS = 8

/** Fits in `columns`: first goes how to stop, then what began last, then the ends of names. */
export function liveText(state: LiveState, nowMs: number, columns: number): string {
  const { what, doing, models, startedMs, isStopping } = state
  const clock = clockOf(nowMs - startedMs)
  const right = what === 'building' ? `[${models.done}/${models.total}]${GAP}${clock}` : clock
  const status = isStopping ? 'stopping' : what
  const items = doing.map((item) => itemText(item, nowMs))
  const whole = join(status, listed(items, items.length), right)
  const hinted = `${whole}${GAP} ${isStopping ? 'rolling back' : STOPS}`
  if (terminalWidth(hinted) <= columns) return hinted
  for (let n = items.length; n > 0; n--) {
    const text = join(status, listed(items, n), right)
    if (terminalWidth(text) <= columns) return text
  }
  const rest = items.length > 1 ? ` +${items.length - 1}` : ''
  const room = columns - terminalWidth(join(status, right) + GAP + rest)
  const [first] = doing
  const nameColumns = room - terminalWidth(items[0] ?? '') + terminalWidth(first?.name ?? '')
  if (first === undefined || nameColumns < LEAST_NAME_COLUMNS)
    return cut(join(status, right), columns)
  const shortened = itemText({ ...first, name: cut(first.name, nameColumns) }, nowMs)
  return join(status, shortened + rest, right)
}

const join = (...parts: readonly string[]) => parts.filter((part) => part !== '').join(GAP)

function listed(items: readonly string[], n: number): string {
  const rest = items.length - n
  return [...items.slice(0, n), ...(rest === 0 ? [] : [`+${rest}`])].join(' · ')
}

function itemText({ name, startedMs, share }: Doing, nowMs: number): string {
  const seconds = Math.floor((nowMs - startedMs) / 1000)
  const parts = [name]
  if (share !== undefined) {
    const { done, total, of } = share
    const all = count(total, of)
    parts.push(done === 0 ? all : `${grouped(done)}/${all}`)
    if (done > 0 && total > 0) parts.push(`${Math.floor((100 * done) / total)} %`)
  }
  if (seconds > 0) parts.push(`${seconds} s`)
  return parts.filter((part) => part !== '').join(' ')
}

function clockOf(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

const CLEAR_LINE = '\r\u001b[2K'
const REDRAW_MS = 200

/** Draws nothing where `terminal` is null. Other output goes above it. */
export class LiveLine implements Disposable {
  readonly #terminal: Output | null
  readonly #text: (columns: number) => string
  readonly #timer: NodeJS.Timeout | null = null
  #drawn = ''
  #isOver = false

  constructor(terminal: Output | null, text: (columns: number) => string) {
    this.#terminal = terminal
    this.#text = text
    if (terminal !== null) this.#timer = setInterval(() => this.draw(), REDRAW_MS).unref()
  }

  draw(): void {
    if (this.#terminal === null || this.#isOver) return
    // The last column stays free: some terminals go on to the next line when it is filled.
    const text = this.#text(widthOfTerminal(this.#terminal) - 1)
    if (text === this.#drawn) return
    this.#terminal.write(CLEAR_LINE + text)
    this.#drawn = text
  }

  above(write: () => void): void {
    this.#clear()
    write()
    this.draw()
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#clear()
  }

  #clear(): void {
    if (this.#drawn !== '') this.#terminal?.write(CLEAR_LINE)
    this.#drawn = ''
  }
}
