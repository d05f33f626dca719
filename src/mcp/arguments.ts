// What a tool takes: declared once, for the schema that assistants read and for the check of what they send.

import { didYouMean } from '../core/suggest.ts'
import { isObject } from '../core/object.ts'

interface Parameter {
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
  readonly required?: boolean
}

export type Parameters = Readonly<Record<string, Parameter>>

export type ArgumentsOf<P extends Parameters> = {
  readonly [N in keyof P]: P[N]['required'] extends true ? TypeOf<P[N]> : TypeOf<P[N]> | undefined
}

type TypeOf<P extends Parameter> = { string: string; integer: number; boolean: boolean }[P['type']]

/** What is wrong with a call of a tool. Its result says so, so that the assistant can call again. */
export class ToolMistake extends Error {
  override name = 'ToolMistake'
}

/** Describes them in JSON Schema. */
export function schemaOf(parameters: Parameters) {
  const all = Object.entries(parameters)
  const required = all.filter(([, { required: is }]) => is === true).map(([name]) => name)
  const properties = Object.fromEntries(
    all.map(([name, { type, description }]) => [name, { type, description }]),
  )
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}

/** Throws ToolMistake. */
export function checkedArguments<P extends Parameters>(
  parameters: P,
  given: unknown,
): ArgumentsOf<P> {
  const values = given ?? {}
  if (!isObject(values)) throw new ToolMistake('the arguments must be an object')
  const known = Object.keys(parameters)
  for (const [name, value] of Object.entries(values)) {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (parameter === undefined) throw unknownArgument(name, known)
    if (!isOfType(value, parameter.type))
      throw new ToolMistake(`"${name}" must be ${PHRASES[parameter.type]}`)
  }
  for (const name of known)
    if (parameters[name]!.required === true && values[name] === undefined)
      throw new ToolMistake(`"${name}" is missing: ${parameters[name]!.description}`)
  return values as ArgumentsOf<P>
}

const PHRASES = { string: 'a string', integer: 'a whole number', boolean: 'true or false' } as const

const isOfType = (value: unknown, type: Parameter['type']) =>
  type === 'integer' ? Number.isSafeInteger(value) : typeof value === type

function unknownArgument(name: string, known: readonly string[]): ToolMistake {
  const shown = name.slice(0, 60)
  const hint = didYouMean(name, known) ?? `there are ${known.join(', ')}`
  return new ToolMistake(`there is no argument "${shown}"; ${hint}`)
}
