// Values of settings: what a type accepts, from YAML and flags as values, from the environment as text.

import { isWebUrl, parseEndpoint, parseStoreUrl } from './urls.ts'
import { parseServerUrl } from '../core/server-url.ts'
import { extensionNamed } from '../core/extensions.ts'
import type { SettingType } from './settings.ts'
import { diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import { type Environments, type SettingReference, valueInForce } from './environment-values.ts'

export type SettingValue = string | number | boolean | readonly string[]

/** Types of which a value is text, where `${NAME}` stands for a variable of the environment. */
const FILLED: ReadonlySet<string> = new Set([
  'text',
  'list',
  'catalog',
  'store',
  'endpoint',
  'web',
  'bearer',
])

export const isFilled = ({ is }: SettingType): boolean => FILLED.has(is)

/** Without flags: the JSON Schema of eider.yml has it too. */
export const SIZE = /^\d+(\.\d+)? ?[KMGTkmgt][Ii]?[Bb]$/

const DESCRIPTIONS = {
  text: 'a non-empty string (in quotes if it looks like a number)',
  size: 'a size such as 4GB or 512MiB',
  boolean: 'true or false',
  list: 'a list of strings',
  catalog: 'a URL such as postgres://eider@db.example:5432/lake',
  store: 'a URL such as s3://bucket/prefix/',
  endpoint: 'a URL of a host, such as https://store.example:9000',
  web: 'an http or https URL without a user, such as http://collector.example:5000',
  bearer: 'a token of one line of ASCII characters',
  extensions: "a list of extensions of DuckDB's own repository, such as [spatial, excel]",
}

/** What follows "must be" in an error. */
export function describeType(type: SettingType): string {
  switch (type.is) {
    case 'choice':
      return `one of ${type.of.join(', ')}`
    case 'secret':
      return `${type.hexDigits === undefined ? 'a non-empty string' : `${type.hexDigits} hexadecimal digits`}, in the environment or in .env`
    case 'number-or-auto':
      return `auto, or an integer from 1 to ${type.max}`
    case 'integer':
      return type.max === Number.MAX_SAFE_INTEGER
        ? `an integer of at least ${type.min}`
        : `an integer from ${type.min} to ${type.max}`
    default:
      return DESCRIPTIONS[type.is]
  }
}

/** null: the value is not of the type. */
export function acceptValue(type: SettingType, value: unknown): SettingValue | null {
  if (typeof value === 'string') {
    // A token is often read from a file, which ends with a line break.
    const text = type.is === 'bearer' ? value.trim() : value
    return isText(type, text) ? text : null
  }
  switch (type.is) {
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'list':
      return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : null
    case 'extensions': {
      const names = Array.isArray(value) ? value.map((item) => extensionNamed(String(item))) : null
      return names?.every((name) => name !== null) === true ? names : null
    }
    case 'integer': {
      const fits = Number.isInteger(value) && type.min <= Number(value) && Number(value) <= type.max
      return fits ? Number(value) : null
    }
    case 'number-or-auto':
      return acceptValue({ is: 'integer', min: 1, max: type.max }, value)
    default:
      return null
  }
}

type TextTests = {
  readonly [Is in SettingType['is']]?: (text: string, type: SettingType & { is: Is }) => boolean
}

const textTests: TextTests = {
  text: (text) => text !== '',
  size: (text) => SIZE.test(text),
  choice: (text, { of }) => of.includes(text),
  'number-or-auto': (text) => text === 'auto',
  secret: (text, { hexDigits: digits }) =>
    digits === undefined ? text !== '' : text.length === digits && /^[0-9a-f]*$/i.test(text),
  catalog: (text) => parseServerUrl(text, 'postgres') !== null,
  store: (text) => parseStoreUrl(text) !== null,
  endpoint: (text) => parseEndpoint(text) !== null,
  web: isWebUrl,
  bearer: (text) => /^[\x20-\x7e]+$/.test(text),
}

function isText(type: SettingType, text: string): boolean {
  const test = textTests[type.is] as ((text: string, type: SettingType) => boolean) | undefined
  return test?.(text, type) === true
}

/** The same for text: digits are an integer, commas separate a list. */
export function parseValue(type: SettingType, text: string): SettingValue | null {
  if (type.is === 'integer') return /^\d+$/.test(text) ? acceptValue(type, Number(text)) : null
  if (type.is === 'number-or-auto' && /^\d+$/.test(text)) return acceptValue(type, Number(text))
  if (type.is === 'boolean') return text === 'true' ? true : text === 'false' ? false : null
  if (type.is === 'list' || type.is === 'extensions')
    return acceptValue(
      type,
      text.split(',').map((item) => item.trim()),
    )
  return acceptValue(type, text)
}

/** With the values of variables. Throws DiagnosticsError for one that is not set, and where they make no such value. */
export function valueOfReference(
  type: SettingType,
  reference: SettingReference,
  environments: Environments,
): SettingValue {
  const { text, key, source, span } = reference
  const fill = (one: string) => valueInForce(one, environments, reference)
  const value =
    typeof text === 'string' ? parseValue(type, fill(text)) : acceptValue(type, text.map(fill))
  if (value !== null) return value
  const parameters = { key, expected: describeType(type) }
  const hint = 'with the values of its variables it is not'
  throw new DiagnosticsError([
    diagnostic('config-invalid-value', parameters, { source, span }, hint),
  ])
}
