// Lines that children of `eider up` write into their logs: with the name of the child, as JSON where they are JSON.

interface ChildLogOptions {
  /** As JSON, one object a line; else for people. */
  readonly json: boolean
  readonly write: (line: string) => void
}

type Entry = Readonly<Record<string, unknown>>

export function childLog({ json, write }: ChildLogOptions): (source: string, line: string) => void {
  return (source, line) => {
    if (line.trim() === '') return
    const entry = parse(line)
    write(json ? asJson(source, line, entry) : asText(source, line, entry))
  }
}

function asJson(source: string, line: string, entry: Entry | null): string {
  if (entry !== null) return JSON.stringify({ ...entry, process: source })
  const time = new Date().toISOString()
  return JSON.stringify({ time, level: 'info', event: 'output', text: line, process: source })
}

function asText(source: string, line: string, entry: Entry | null): string {
  const who = source.padEnd(8)
  if (entry === null) return `${new Date().toTimeString().slice(0, 8)}  ${who}${line}`
  const { time, level, event, ...fields } = entry
  const shown = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const clock = new Date(String(time)).toTimeString().slice(0, 8)
  return [`${clock}  ${who}${String(level).padEnd(9)}`, String(event), ...shown].join(' ')
}

/** null for what is not a line of a log. */
function parse(line: string): Entry | null {
  if (!line.startsWith('{')) return null
  try {
    const entry = JSON.parse(line) as Entry
    return typeof entry['time'] === 'string' && typeof entry['event'] === 'string' ? entry : null
  } catch {
    return null
  }
}
