// What starts `eider up` for a project with the machine: a unit of another supervisor, as this user with this program. The
// texts are in templates/units/, and each value is escaped for its format.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { escapeXml } from '../core/xml.ts'
import { packageDir } from '../files/package.ts'

export type UnitKind = 'systemd' | 'launchd' | 'compose'

export interface Deployment {
  readonly project: string
  readonly target: string | null
  readonly version: string
  readonly dir: string
  /** Program and arguments: node, this program, `up` and its flags. */
  readonly command: readonly string[]
  readonly user: string
  readonly uid: number
  readonly gid: number
  /** Absolute; the project's directory first. */
  readonly writable: readonly string[]
  /** A port of the host; null: `up` starts no such service. */
  readonly collectPort: number | null
  readonly odataPort: number | null
  /** Whether ports are open without a token. */
  readonly isAnonymous: boolean
}

type Values = Readonly<Record<string, string>>

const values: Readonly<Record<UnitKind, (of: Deployment) => Values>> = {
  systemd: systemdValues,
  launchd: launchdValues,
  compose: composeValues,
}

export function unitText(kind: UnitKind, deployment: Deployment): string {
  const template = readFileSync(join(packageDir, 'templates', 'units', kind), 'utf8')
  return fill(template, values[kind](deployment))
}

/** Each `{{name}}` becomes its value. Braces within a value stay as they are. */
const fill = (template: string, given: Values): string =>
  template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = given[name]
    if (value === undefined) throw new Error(`the template has {{${name}}}, which has no value`)
    return value
  })

/** `shop`, or `shop-prod`. */
const unitName = ({ project, target }: Deployment): string =>
  (target === null ? project : `${project}-${target}`).replaceAll(/[^A-Za-z0-9_.-]+/g, '-')

function systemdValues(of: Deployment): Values {
  const ports = [of.collectPort, of.odataPort].filter((port) => port !== null)
  const isPrivileged = ports.some((port) => port > 0 && port < 1024)
  return {
    name: `eider-${unitName(of)}.service`,
    description: specifiers(`eider up: ${unitName(of)}`),
    user: of.user,
    dir: specifiers(of.dir),
    command: of.command.map(argument).join(' '),
    writable: of.writable.map(path).join(' '),
    capabilities: isPrivileged ? 'CAP_NET_BIND_SERVICE' : '',
  }
}

/** systemd: `%` begins a specifier in all values. */
const specifiers = (text: string) => text.replaceAll('%', '%%')

const PLAIN = /^[A-Za-z0-9_./:@=,+-]+$/

/** systemd: a word of a list of paths. */
function path(text: string): string {
  if (PLAIN.test(text)) return text
  return specifiers(`"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`)
}

/** systemd: in a command line variables are replaced too. */
const argument = (text: string): string => path(text).replaceAll('$', '$$$$')

/** A property list, for the agent of a user. */
function launchdValues(of: Deployment): Values {
  return {
    label: `eider.${unitName(of)}`,
    command: of.command.map((word) => `    <string>${inXml(word)}</string>`).join('\n'),
    dir: inXml(of.dir),
    log: inXml(join(of.dir, '.eider', 'up.log')),
  }
}

const inXml = (text: string) => escapeXml(text, /[&<>]/g)

/** The project stands at its own path in the container too, so that all paths in eider.yml mean the same in and outside. */
function composeValues(of: Deployment): Values {
  const [, , ...words] = of.command
  const services = [
    { name: 'COLLECT', port: of.collectPort },
    { name: 'ODATA', port: of.odataPort },
  ].filter(({ port }) => port !== null && port !== 0)
  const environment = services.flatMap(({ name }) => [
    `${name}_HOST: 0.0.0.0`,
    ...(of.isAnonymous ? [] : [`${name}_TOKEN: '\${${name}_TOKEN:?set ${name}_TOKEN in .env}'`]),
  ])
  const ports = services.map(({ port }) => `- ${inYaml(`127.0.0.1:${port}:${port}`)}`)
  const lines = (all: readonly string[]) => all.map((line) => `      ${line}\n`).join('')
  const section = (key: string, all: readonly string[]) =>
    all.length === 0 ? '' : `    ${key}:\n${lines(all)}`
  const list = (all: readonly string[]) => all.map(inYaml).join(', ')
  const volumes = of.writable.map(inYaml)
  return {
    version: of.version,
    name: inYaml(composeName(of)),
    image: inYaml(`eider:${of.version}`),
    command: list(['eider', ...words]),
    dir: inYaml(of.dir),
    user: inYaml(`${of.uid}:${of.gid}`),
    environment: section('environment', environment),
    ports: section('ports', ports),
    volumes: lines(volumes.map((dir) => `- { type: bind, source: ${dir}, target: ${dir} }`)),
    healthcheck: list([
      'CMD',
      'eider',
      'status',
      '--live',
      '--quiet',
      ...words.slice(1).filter(isOfProject),
    ]),
  }
}

/** `--project DIR` and `--target NAME`, which stand first. */
function isOfProject(_word: string, index: number, words: readonly string[]): boolean {
  return index < 2 || (index < 4 && words[2] === '--target')
}

/** Compose takes lower case only, and a letter or digit first. */
const composeName = (of: Deployment): string =>
  unitName(of)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '-')
    .replace(/^[^a-z0-9]+/, '') || 'eider'

/** JSON is YAML; `$` is doubled, since Compose replaces variables. */
const inYaml = (text: string): string => JSON.stringify(text.replaceAll('$', '$$$$'))
