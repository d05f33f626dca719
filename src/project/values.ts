// Values of settings: what a type accepts, from YAML and flags as values, from the environment as text.

import { parseEndpoint, parseStoreUrl } from './urls.ts'
import { parseServerUrl } from '../core/server-url.ts'
import { extensionNamed } from '../core/extensions.ts'
import type { SettingType } from './settings.ts'
import { diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import { type Environments, type SettingReference, valueInForce } from './environment-values.ts'

export type SettingValue = string | number | boolean | readonly string[]

/** Types of which a value is text, where `${NAME}` stands for a variable of the environment. */
const FILLED: ReadonlySet<string> = new Set(['text', 'list', 'catalog', 'store', 'endpoint'])

export const isFilled = ({ is }: SettingType): boolean => FILLED.has(is)

/** Without flags: the JSON Schema of eider.yml has it too. */
export const SIZE = /^\d+(\.\d+)? ?[KMGTkmgt][Ii]?[Bb]$/

/** For "must be …". */
export function describeType(type: SettingType): string {
  switch (type.is) {
    case 'text':
      return 'a non-empty string (in quotes if it looks like a number)'
    case 'size':
      return 'a size such as 4GB or 512MiB'
    case 'boolean':
      return 'true or false'
    case 'list':
      return 'a list of strings'
    case 'choice':
      return `one of ${type.of.join(', ')}`
    case 'secret':
      return `${type.hexDigits === undefined ? 'a non-empty string' : `${type.hexDigits} hexadecimal digits`}, in the environment or in .env`
    case 'catalog':
      return 'a URL such as postgres://eider@db.example:5432/lake'
    case 'store':
      return 'a URL such as s3://bucket/prefix/'
    case 'endpoint':
      return 'a URL of a host, such as https://store.example:9000'
    case 'extensions':
      return "a list of extensions of DuckDB's own repository, such as [spatial, excel]"
    case 'integer':
      return type.max === Number.MAX_SAFE_INTEGER
        ? `an integer of at least ${type.min}`
        : `an integer from ${type.min} to ${type.max}`
  }
}

/** The value when it is of the type, or else null. */
export function acceptValue(type: SettingType, value: unknown): SettingValue | null {
  switch (type.is) {
    case 'text':
      return typeof value === 'string' && value !== '' ? value : null
    case 'size':
      return typeof value === 'string' && SIZE.test(value) ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'choice':
      return typeof value === 'string' && type.of.includes(value) ? value : null
    case 'secret': {
      const form =
        type.hexDigits === undefined ? /./s : RegExp(`^[0-9a-f]{${type.hexDigits}}$`, 'i')
      return typeof value === 'string' && form.test(value) ? value : null
    }
    case 'catalog':
      return typeof value === 'string' && parseServerUrl(value, 'postgres') !== null ? value : null
    case 'store':
      return typeof value === 'string' && parseStoreUrl(value) !== null ? value : null
    case 'endpoint':
      return typeof value === 'string' && parseEndpoint(value) !== null ? value : null
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
  }
}

/** The same for text: digits are an integer, commas separate a list. */
export function parseValue(type: SettingType, text: string): SettingValue | null {
  if (type.is === 'integer') return /^\d+$/.test(text) ? acceptValue(type, Number(text)) : null
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
    diagnostic('config-invalid-value', parameters, { source, span }, { hint }),
  ])
}
