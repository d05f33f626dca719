// The URL of a database server, as a source names it.

import type { Age, SourceServer } from '../../core/external.ts'
import { holdsPassword } from '../../core/lake.ts'
import { limits } from '../../core/limits.ts'
import { parameterHint, parseServerUrl, type ServerSystem } from '../../core/server-url.ts'
import { hasVariable } from './environment.ts'
import { ageOf, type Group, type Text, textOf } from './nodes.ts'

interface Place {
  readonly system: ServerSystem
  readonly database: Text | null
  readonly server: SourceServer | null
}

const expected = (system: string) =>
  `a URL without a password, such as ${system}://reader@db.example/shop`

export function readServer(group: Group, name: string, system: ServerSystem): Place {
  const { path, environment, members } = group
  const timeout = ageOf(group, 'timeout') ?? defaultTimeout
  const text = textOf(group, system, expected(system))
  if (text?.value == null) return { system, database: text, server: null }
  const isFilled = hasVariable(text.written)
  const variable = `SOURCE_${name.toUpperCase()}_PASSWORD`
  const parsed = parseServerUrl(text.value, system)
  const holds = holdsPassword(text.value)
  if (!isFilled && (parsed === null || holds)) {
    const hint = holds
      ? `its password is taken from ${variable}`
      : parameterHint(text.value, system)
    group.refuse(members.get(system)!, `${path}.${system}`, expected(system), hint)
    return { system, database: text, server: null }
  }
  if (parsed === null) {
    const problem = `${text.written} is not the URL of a database`
    environment.wrong(
      problem,
      text.node,
      `set it to one such as ${system}://reader@db.example/shop`,
    )
    return { system, database: text, server: null }
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
  return { system, database: text, server }
}

const defaultTimeout: Age = {
  text: `${limits.sourceStatementMs / 1_000} seconds`,
  ms: limits.sourceStatementMs,
}
