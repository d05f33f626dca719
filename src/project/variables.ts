// The variables of a project: `vars` of eider.yml, which declares them with their types, and what overrides their
// values: a target, the environment, the command line.

import { type Node, type Scalar as ScalarNode, isMap, isScalar, isSeq } from 'yaml'
import { UsageError } from '../core/failures.ts'
import { foldCase } from '../core/names.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Scalar, Variable, Variables } from '../core/variables.ts'
import { type Environments, variableOf } from './environment-values.ts'
import { entriesOf, isAbsent, type Reader } from './members.ts'

/** DuckDB's parser does not read a longer number exactly. */
const INTEGER = /^[-+]?\d{1,38}$/
const DECIMAL = /^[-+]?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?$/
/** A decimal of DuckDB has at most 38 digits; a longer one is a DOUBLE there too. */
const LONG_DECIMAL = /^[-+]?(?=[\d.]{1,39}$)\d+\.\d+$/
/** Any decimal with as many digits is the same after it has been a number. */
const SAFE_DIGITS = 15
const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

const EXPECTED_VARIABLE = 'a string, a number, true or false, a date, or a list of these'

/** Reads `vars`. A target may set only what `declared` has, and as what it is there. */
export function readVariables(
  node: Node | null,
  prefix: string,
  declared: Variables | null,
  { refuse }: Reader,
): Variables {
  const found = new Map<string, Variable>()
  const taken = new Set<string>()
  if (isAbsent(node)) return found
  if (!isMap(node)) {
    refuse(node, prefix, 'a group of variables, such as since: 2024-01-01')
    return found
  }
  for (const { name, key, value } of entriesOf(node)) {
    const variable = value === null ? null : readVariable(value)
    const before = declared?.get(name)
    if (!NAME.test(name) || taken.has(foldCase(name)))
      refuse(key, prefix, 'named with letters, digits and _, and unique regardless of case')
    else if (declared !== null && before === undefined)
      refuse(key, `${prefix}.${name}`, 'declared under vars at the top of the file too')
    else if (variable === null) refuse(value ?? key, `${prefix}.${name}`, EXPECTED_VARIABLE)
    else if (before !== undefined && before.is !== variable.is)
      refuse(value ?? key, `${prefix}.${name}`, `${describe(before)}, as it is declared`)
    else {
      found.set(name, variable)
      taken.add(foldCase(name))
    }
  }
  return found
}

interface VariableSources {
  readonly declared: Variables
  readonly target: Variables | undefined
  readonly environments: Environments
  /** `name=value` of the command line. */
  readonly flags: readonly string[]
}

export const VARIABLE_PREFIX = 'EIDER_VAR_'

export const environmentName = (variable: string): string =>
  `${VARIABLE_PREFIX}${variable.toUpperCase()}`

/** Throws UsageError for a value of another type, and for a flag that names no variable. */
export function variablesInForce(given: VariableSources): Variables {
  const { declared, target, environments, flags } = given
  const fromFlags = readFlags(flags, declared)
  const entries = Array.from(declared, ([name, variable]): [string, Variable] => {
    const flag = fromFlags.get(name)
    if (flag !== undefined) return [name, parse(flag, variable, `--vars ${name}`)]
    const environment = environmentName(name)
    const text = variableOf(environment, environments)
    if (text !== null) return [name, parse(text, variable, `the variable ${environment}`)]
    return [name, target?.get(name) ?? variable]
  })
  return new Map(entries)
}

function readFlags(flags: readonly string[], declared: Variables): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const flag of flags) {
    const at = flag.indexOf('=')
    const name = at < 0 ? flag : flag.slice(0, at)
    if (at < 1)
      throw new UsageError(`--vars takes name=value, not "${flag}"`, {
        hint: 'for example --vars since=2024-01-01',
      })
    if (!declared.has(name))
      throw new UsageError(`eider.yml declares no variable "${name}"`, {
        hint: didYouMean(name, declared.keys()) ?? `add it: vars: {${name}: …}`,
      })
    found.set(name, flag.slice(at + 1))
  }
  return found
}

function readVariable(node: Node): Variable | null {
  if (isScalar(node)) return readScalar(node)
  if (!isSeq(node) || node.items.length === 0) return null
  const values = node.items.map((item) => (isScalar(item) ? readScalar(item) : null))
  return values.every((value) => value !== null) ? { is: 'list', values } : null
}

/** An unquoted value has the type that it looks like; a quoted one is text. */
function readScalar({ value, type, source }: ScalarNode): Scalar | null {
  if (typeof value === 'boolean') return { is: 'boolean', value }
  if (typeof value === 'number') return numberOf(source ?? String(value))
  if (typeof value !== 'string') return null
  return { is: type === 'PLAIN' && isDate(value) ? 'date' : 'text', value }
}

/** A text from outside, as the type that the variable is declared with. */
function parse(text: string, variable: Variable, where: string): Variable {
  const parsed =
    variable.is === 'list'
      ? { is: 'list' as const, values: parseList(text, variable.values[0]!) }
      : parseScalar(text, variable)
  if (parsed === null || (parsed.is === 'list' && parsed.values.includes(null)))
    throw new UsageError(`${where} must be ${describe(variable)}, not "${text}"`)
  return parsed as Variable
}

const parseList = (text: string, like: Scalar) =>
  text.split(',').map((item) => parseScalar(item.trim(), like))

function parseScalar(text: string, like: Scalar): Scalar | null {
  switch (like.is) {
    case 'text':
      return { is: 'text', value: text }
    case 'date':
      return isDate(text) ? { is: 'date', value: text } : null
    case 'boolean':
      return text === 'true' || text === 'false' ? { is: 'boolean', value: text === 'true' } : null
    case 'number':
      return numberOf(text)
  }
}

function numberOf(text: string): Scalar | null {
  if (INTEGER.test(text)) return { is: 'number', value: BigInt(text.replace(/^\+/, '')) }
  if (!DECIMAL.test(text)) return null
  const isExact = text.replaceAll(/\D/g, '').length <= SAFE_DIGITS || !LONG_DECIMAL.test(text)
  return { is: 'number', value: isExact ? Number(text) : text }
}

/** 30 February looks like a date but is not one. */
function isDate(text: string): boolean {
  const time = DATE.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function describe(variable: Variable): string {
  const words = { text: 'a text', date: 'a date', number: 'a number', boolean: 'true or false' }
  if (variable.is !== 'list') return words[variable.is]
  return `a list of which each is ${words[variable.values[0]!.is]}`
}
