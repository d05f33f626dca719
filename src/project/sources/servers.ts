// The URL of a database server, as a source names it.

import type { Age, SourceServer } from '../../core/sources.ts'
import { holdsPassword } from '../urls.ts'
import { limits } from '../../core/limits.ts'
import { parameterHint, parseServerUrl, type ServerSystem } from '../../core/server-url.ts'
import { hasVariable } from './environment.ts'
import { ageOf, type Group, type SourcePlace, type SourceReader, textOf } from './nodes.ts'

/** `system`: also the key, and the scheme of the URL. */
export const databaseServer = (
  system: ServerSystem,
  defaultSchema: (server: SourceServer | null) => string,
): SourceReader => ({
  key: system,
  isOnServer: true,
  options: { timeout: 'the source is not on a server' },
  read(group, name) {
    const { database, server } = readServer(group, name, system)
    return { database, server, schema: defaultSchema(server) }
  },
})

function readServer(
  group: Group,
  name: string,
  system: ServerSystem,
): Pick<SourcePlace, 'database' | 'server'> {
  const { environment } = group
  const timeout = ageOf(group, 'timeout') ?? defaultTimeout
  const example = `${system}://reader@db.example/shop`
  const expected = `a URL without a password, such as ${example}`
  const text = textOf(group, system, expected)
  if (text?.value == null) return { database: text, server: null }
  const isFilled = hasVariable(text.written)
  const variable = `SOURCE_${name.toUpperCase()}_PASSWORD`
  const parsed = parseServerUrl(text.value, system)
  const holds = holdsPassword(text.value)
  if (!isFilled && (parsed === null || holds)) {
    const form = parameterHint(text.value, system)
    const password = `its password is taken from ${variable}`
    const hint = holds ? [form, password].filter(Boolean).join('; ') : form
    group.refuseMember(system, expected, hint)
    return { database: text, server: null }
  }
  if (parsed === null) {
    const problem = `${text.written} is not the URL of a database`
    const hint = `set it to one such as ${example}${escapeHint(text.value, variable)}`
    environment.wrong(problem, group.node(system)!, hint)
    return { database: text, server: null }
  }
  const own = environment.variable(variable)
  if (parsed.password !== null)
    environment.hidden.push(
      ...[parsed.password, encodeURIComponent(parsed.password)].map((value) => {
        return { value, shown: text.written }
      }),
    )
  const { host, port } = parsed
  const server: SourceServer = {
    ...parsed,
    password: own ?? parsed.password,
    shown: isFilled ? `the server of ${text.written}` : `${host}:${port}`,
    passwordHint:
      isFilled && own === null
        ? `check the password in ${text.written}`
        : `set ${variable} in the environment or in .env`,
    timeout,
  }
  return { database: text, server }
}

/** A sign in a password that ends it in a URL, or begins what stands for another one. The value is not shown. */
function escapeHint(url: string, variable: string): string {
  const [, userInfo = ''] = /^\w+:\/\/(.*)@/.exec(url) ?? []
  if (!/[#/?@]|%(?![0-9A-Fa-f]{2})/.test(userInfo)) return ''
  return `; in its password @ : / # ? % are written %40 %3A %2F %23 %3F %25, or leave the password out and set ${variable}`
}

const defaultTimeout: Age = {
  text: `${limits.sourceStatementMs / 1_000} seconds`,
  ms: limits.sourceStatementMs,
}
