// The Prefer header (RFC 7240): what a client asks for, and which of it was applied.

import { header, type RequestHeaders } from './negotiate.ts'

export interface Preferences {
  /** Rows per page; null: the default of the service. */
  readonly maxPageSize: number | null
  /** A delta link is wanted after the last row. */
  readonly trackChanges: boolean
  /** Properties that are null may be left out. */
  readonly omitNulls: boolean
  /** Each of these as the client wrote it. */
  readonly written: ReadonlyMap<PreferenceName, string>
}

export type PreferenceName = 'maxpagesize' | 'track-changes' | 'omit-values'

const PREFERENCE = /^\s*((?:odata\.)?([\w-]+))\s*(?:=\s*("[^"]*"|[^\s;"]*))?\s*(?:;|$)/i

const isWanted: Readonly<Record<PreferenceName, (value: string) => boolean>> = {
  maxpagesize: (value) => /^\d{1,15}$/.test(value) && Number(value) > 0,
  'track-changes': (value) => value === '',
  'omit-values': (value) => value.toLowerCase() === 'nulls',
}

/** Unknown preferences are ignored; of a preference that is repeated, the first counts. */
export function parsePreferences(headers: RequestHeaders): Preferences {
  const written = new Map<PreferenceName, string>()
  let maxPageSize: number | null = null
  for (const preference of (header(headers, 'prefer') ?? '').split(',')) {
    const found = PREFERENCE.exec(preference)
    const name = found?.[2]?.toLowerCase() ?? ''
    const value = found?.[3]?.replace(/^"(.*)"$/, '$1') ?? ''
    if (!isPreference(name) || written.has(name) || !isWanted[name](value)) continue
    const shown = name === 'maxpagesize' ? String(Number(value)) : value
    written.set(name, shown === '' ? found![1]! : `${found![1]}=${shown}`)
    if (name === 'maxpagesize') maxPageSize = Number(value)
  }
  return {
    maxPageSize,
    trackChanges: written.has('track-changes'),
    omitNulls: written.has('omit-values'),
    written,
  }
}

const isPreference = (name: string): name is PreferenceName => Object.hasOwn(isWanted, name)

/** Of the preferences of a request those that its answer follows. */
export function appliedOf(
  preferences: Preferences,
  follows: readonly PreferenceName[],
): Preferences {
  const written = new Map([...preferences.written].filter(([name]) => follows.includes(name)))
  return {
    maxPageSize: written.has('maxpagesize') ? preferences.maxPageSize : null,
    trackChanges: written.has('track-changes'),
    omitNulls: written.has('omit-values'),
    written,
  }
}

export const NO_PREFERENCES = appliedOf(parsePreferences({}), [])

/** The value of Preference-Applied; null when nothing was applied. */
export const shownPreferences = ({ written }: Preferences): string | null =>
  written.size === 0 ? null : [...written.values()].join(', ')

/** Whether the requests after one that fails are answered: as the client prefers, `byDefault` where it says nothing. */
export function parseContinueOnError(headers: RequestHeaders, byDefault: boolean) {
  const found =
    /(?:^|,)\s*((?:odata\.)?continue-on-error)\s*(?:=\s*"?(true|false)"?)?\s*(?:;|,|$)/i.exec(
      header(headers, 'prefer') ?? '',
    )
  if (found === null) return { continueOnError: byDefault, applied: null }
  const continueOnError = found[2]?.toLowerCase() !== 'false'
  return { continueOnError, applied: `${found[1]}=${continueOnError}` }
}
