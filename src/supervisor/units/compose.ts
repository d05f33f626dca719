// A file of Docker Compose. The project stands at its own path in the container too, so that all paths in eider.yml
// mean the same inside and outside.

import { type Deployment, unitName } from './deployment.ts'

export function composeFile(of: Deployment): string {
  const [, , ...words] = of.command
  const services = [
    { name: 'COLLECT', port: of.collectPort },
    { name: 'ODATA', port: of.odataPort },
  ].flatMap(({ name, port }) => (port === null || port === 0 ? [] : [{ name, port }]))
  const environment = services.flatMap(({ name }) => [
    `${name}_HOST: 0.0.0.0`,
    ...(of.isAnonymous ? [] : [`${name}_TOKEN: '\${${name}_TOKEN:?set ${name}_TOKEN in .env}'`]),
  ])
  const ports = services.map(({ port }) => `- ${value(`127.0.0.1:${port}:${port}`)}`)
  const list = (lines: readonly string[], indent: string) =>
    lines.map((line) => `${indent}${line}\n`).join('')
  const section = (key: string, lines: readonly string[]) =>
    lines.length === 0 ? '' : `    ${key}:\n${list(lines, '      ')}`
  return `# compose.yml: docker compose up --detach
# The image is made by the Dockerfile of eider: npm pack && docker build --tag eider:${of.version} .
name: ${value(projectName(of))}
services:
  eider:
    image: ${value(`eider:${of.version}`)}
    command: [${['eider', ...words].map(value).join(', ')}]
    working_dir: ${value(of.dir)}
    user: ${value(`${of.uid}:${of.gid}`)}
    init: true
    restart: unless-stopped
    stop_grace_period: 60s
${section('environment', environment)}${section('ports', ports)}    volumes:
${list(
  of.writable.map((path) => `- { type: bind, source: ${value(path)}, target: ${value(path)} }`),
  '      ',
)}    healthcheck:
      test: [${['CMD', 'eider', 'status', '--live', '--quiet', ...words.slice(1).filter(isOfProject)].map(value).join(', ')}]
      interval: 30s
      timeout: 10s
      start_period: 60s
      retries: 3
    read_only: true
    tmpfs: [/tmp]
    cap_drop: [ALL]
    security_opt: ['no-new-privileges:true']
`
}

/** `--project DIR` and `--target NAME`, which stand first. */
function isOfProject(_word: string, index: number, words: readonly string[]): boolean {
  return index < 2 || (index < 4 && words[2] === '--target')
}

/** Compose takes lower case only, and a letter or digit first. */
const projectName = (of: Deployment): string =>
  unitName(of)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '-')
    .replace(/^[^a-z0-9]+/, '') || 'eider'

/** JSON is YAML; `$` is doubled, since Compose replaces variables. */
const value = (text: string): string => JSON.stringify(text.replaceAll('$', '$$$$'))
