// Ends with 1 when the registry knows an advisory of severity high or critical against a package that users get: one in
// the bundle, or one that is installed with eider. Others are listed. A registry that does not answer is said and is no
// failure. Needs a build, since the bundle knows what is in it.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '..')
const isGrave = (severity) => severity === 'high' || severity === 'critical'

const { stdout, error } = spawnSync('npm', ['audit', '--package-lock-only', '--json'], {
  cwd: repository,
  encoding: 'utf8',
  timeout: 60_000,
})
const report = parsed(stdout)
if (report?.vulnerabilities === undefined) {
  const reason = error?.message ?? report?.message ?? report?.error?.summary ?? 'no answer'
  print(`audit: NOT CARRIED OUT: ${reason}`)
} else {
  const advisories = Object.values(report.vulnerabilities).flatMap(advisoriesOf)
  for (const { severity, name, title, url, concernsUsers } of advisories)
    print(
      `audit: ${severity} ${name}${concernsUsers ? '' : ' (development only)'}: ${title} ${url}`,
    )
  const grave = advisories.filter((one) => one.concernsUsers && isGrave(one.severity))
  print(`audit: ${advisories.length} advisories, ${grave.length} that need a release`)
  if (grave.length > 0) process.exitCode = 1
}

/** Those against the package itself; npm also lists whatever depends on it. */
function advisoriesOf({ name, nodes, via }) {
  const concernsUsers = nodes.some(reachesUsers)
  return via
    .filter((cause) => typeof cause === 'object')
    .map(({ severity, title, url }) => ({ name, severity, title, url, concernsUsers }))
}

/** `node` is a key of the lock file. */
function reachesUsers(node) {
  const { packages } = readJson('package-lock.json')
  const { dev, version } = packages[node] ?? {}
  const purl = `${node.split('node_modules/').at(-1).replace('@', '%40')}@${version}`
  const { components } = readJson('dist/bundle/sbom.cdx.json')
  return dev !== true || components.some((part) => part.purl === `pkg:npm/${purl}`)
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function readJson(path) {
  return JSON.parse(readFileSync(join(repository, path), 'utf8'))
}

function print(line) {
  process.stdout.write(line + '\n')
}
