// The lines of a stream as they come. One without an end is passed on in pieces.

import type { Readable } from 'node:stream'
import { limits } from '../core/limits.ts'

export function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
    if (rest.length < limits.childLineLength) return
    onLine(rest)
    rest = ''
  })
  stream.on('end', () => {
    if (rest !== '') onLine(rest)
  })
  stream.on('error', () => {})
}
