// How text looks on a stream: colours, and where lines are wrapped.

export type Style = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold'
export type Paint = (style: Style, text: string) => string

export interface Look {
  readonly paint: Paint
  /** Lines are wrapped between words to fit; Infinity where nothing has a width. */
  readonly columns: number
}

/** What matters of a stream here. */
export interface Output {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

type Environment = Readonly<Record<string, string | undefined>>

// Some terminals without a window say 0.
const UNKNOWN_WIDTH = 80

export const widthOfTerminal = ({ columns }: Output): number => columns || UNKNOWN_WIDTH

export const plain: Paint = (_style, text) => text
export const plainLook: Look = { paint: plain, columns: Infinity }

// Not styleText() of Node, which looks at one stream and, in newer versions, at the environment by rules of its own.
const CODES: Readonly<Record<Style, readonly [on: number, off: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
}

const coloured: Paint = (style, text) => {
  const [on, off] = CODES[style]
  return `\u001b[${on}m${text}\u001b[${off}m`
}

export function lookOf(
  stream: Output,
  options: { readonly colour: boolean },
  env: Environment = process.env,
): Look {
  const paint = options.colour && wantsColour(stream, env) ? coloured : plain
  return { paint, columns: stream.isTTY === true ? widthOfTerminal(stream) : Infinity }
}

/** NO_COLOR (https://no-color.org), then FORCE_COLOR, then TERM; the logs of CI services show colours, without a terminal. */
function wantsColour(stream: Output, env: Environment): boolean {
  if (isSet(env['NO_COLOR'])) return false
  const forced = env['FORCE_COLOR']
  if (forced !== undefined) return !['0', 'false'].includes(forced)
  if (env['TERM'] === 'dumb') return false
  return stream.isTTY === true || isCi(env)
}

/** Whether a line of it can be drawn again and again. */
export const isLive = (stream: Output, env: Environment = process.env): boolean =>
  stream.isTTY === true && env['TERM'] !== 'dumb' && !isCi(env)

const isCi = (env: Environment) => isSet(env['CI']) && env['CI'] !== 'false'
const isSet = (value: string | undefined) => value !== undefined && value !== ''
