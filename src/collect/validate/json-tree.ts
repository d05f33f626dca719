// The slow and exact path: every value of an event with its place in the bytes, so that numbers are validated by their
// digits and not by the nearest double, and a single token can be rewritten.

import { skipSpace } from './json-scan.ts'

export type JsonNode = Placed &
  (
    | { readonly is: 'object'; readonly members: readonly Member[] }
    | { readonly is: 'array'; readonly elements: readonly JsonNode[] }
    | { readonly is: 'string'; readonly value: string }
    | { readonly is: 'number'; readonly token: string }
    | { readonly is: 'boolean'; readonly value: boolean }
    | { readonly is: 'null' }
  )

interface Placed {
  /** Byte offsets: first byte, and the byte after the last one. */
  readonly start: number
  readonly end: number
}

export interface Member {
  readonly name: string
  readonly node: JsonNode
}

/** The value at `start`. The bytes must be JSON, as JSON.parse has found, and not nested too deeply. */
export function readTree(bytes: Buffer, start: number): JsonNode {
  const first = bytes[start]!
  if (first === 0x7b) return readObject(bytes, start)
  if (first === 0x5b) return readArray(bytes, start)
  if (first === 0x22) {
    const end = stringEnd(bytes, start)
    return {
      is: 'string',
      start,
      end,
      value: JSON.parse(bytes.toString('utf8', start, end)) as string,
    }
  }
  let end = start
  while (end < bytes.length && !isDelimiter(bytes[end]!)) end++
  const token = bytes.toString('latin1', start, end)
  if (token === 'null') return { is: 'null', start, end }
  if (token === 'true' || token === 'false')
    return { is: 'boolean', start, end, value: token === 'true' }
  return { is: 'number', start, end, token }
}

function readObject(bytes: Buffer, start: number): JsonNode {
  const members: Member[] = []
  let at = skipSpace(bytes, start + 1, bytes.length)
  while (bytes[at] !== 0x7d) {
    const end = stringEnd(bytes, at)
    const name = JSON.parse(bytes.toString('utf8', at, end)) as string
    const colon = skipSpace(bytes, end, bytes.length)
    const node = readTree(bytes, skipSpace(bytes, colon + 1, bytes.length))
    members.push({ name, node })
    at = afterComma(bytes, node.end)
  }
  return { is: 'object', start, end: at + 1, members }
}

function readArray(bytes: Buffer, start: number): JsonNode {
  const elements: JsonNode[] = []
  let at = skipSpace(bytes, start + 1, bytes.length)
  while (bytes[at] !== 0x5d) {
    const node = readTree(bytes, at)
    elements.push(node)
    at = afterComma(bytes, node.end)
  }
  return { is: 'array', start, end: at + 1, elements }
}

function afterComma(bytes: Buffer, end: number): number {
  const at = skipSpace(bytes, end, bytes.length)
  return bytes[at] === 0x2c ? skipSpace(bytes, at + 1, bytes.length) : at
}

function stringEnd(bytes: Buffer, start: number): number {
  let at = start + 1
  while (bytes[at] !== 0x22) at += bytes[at] === 0x5c ? 2 : 1
  return at + 1
}

/** A comma, a closing bracket or white space. */
function isDelimiter(byte: number): boolean {
  return byte === 0x2c || byte === 0x5d || byte === 0x7d || byte <= 0x20
}

/** Calls `visit` for the node and all below it. */
export function walk(node: JsonNode, visit: (node: JsonNode) => void): void {
  visit(node)
  if (node.is === 'object') for (const member of node.members) walk(member.node, visit)
  if (node.is === 'array') for (const element of node.elements) walk(element, visit)
}

/** The node as DuckDB prints it, but with its numbers as they were sent. */
export function printTree(node: JsonNode): string {
  switch (node.is) {
    case 'object':
      return `{${node.members.map(({ name, node: value }) => `${JSON.stringify(name)}:${printTree(value)}`).join(',')}}`
    case 'array':
      return `[${node.elements.map(printTree).join(',')}]`
    case 'string':
      return JSON.stringify(node.value)
    case 'number':
      return node.token
    default:
      return node.is === 'null' ? 'null' : String(node.value)
  }
}
