// What goes with the bundle: the licences of the packages in it, and a list of them that scanners read (CycloneDX).

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

const repository = import.meta.dirname
const { packages } = readJson(join(repository, 'package-lock.json'))

/** A plugin of rolldown. */
export const bundlePapers = {
  name: 'papers',
  generateBundle(_options, bundle) {
    const files = Object.values(bundle).flatMap((chunk) => Object.keys(chunk.modules ?? {}))
    const dirs = files.map(packageOf).filter((dir) => dir !== undefined)
    const inside = [...new Set(dirs)].map(described).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const licenses = inside.map(licenseOf).join('\n---\n\n')
    this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: licenses })
    const sbom = JSON.stringify(sbomOf(inside), null, 2) + '\n'
    this.emitFile({ type: 'asset', fileName: 'sbom.cdx.json', source: sbom })
  },
}

function packageOf(file) {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]
}

function described(dir) {
  return { dir, ...readJson(join(dir, 'package.json')) }
}

/** What the authors of the packages ask for: that their names and terms go with every copy. */
function licenseOf({ dir, name, version, license }) {
  const file = readdirSync(dir).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? '' : readFileSync(join(dir, file), 'utf8')
  return `${name} ${version} (${license})\n\n${text.trim()}\n`
}

function sbomOf(inside) {
  const own = component(readJson(join(repository, 'package.json')))
  const components = inside.map((part) => ({
    type: 'library',
    ...component(part),
    ...hashesOf(part),
  }))
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...own } },
    components,
    dependencies: [{ ref: own['bom-ref'], dependsOn: components.map((part) => part['bom-ref']) }],
  }
}

function component({ name, version, license }) {
  const [scope, base] = name.startsWith('@') ? name.split('/') : [undefined, name]
  const namespace = scope === undefined ? '' : `${encodeURIComponent(scope)}/`
  const purl = `pkg:npm/${namespace}${base}@${version}`
  const isExpression = / (?:AND|OR|WITH) /.test(license)
  return {
    'bom-ref': purl,
    ...(scope === undefined ? {} : { group: scope }),
    name: base,
    version,
    licenses: [isExpression ? { expression: license } : { license: { id: license } }],
    purl,
  }
}

/** Of the archive in the registry, as the lock file has it. */
function hashesOf({ dir }) {
  const key = relative(repository, dir).split(sep).join('/')
  const [, algorithm, digest] = /^sha(\d+)-(.*)$/.exec(packages[key]?.integrity ?? '') ?? []
  if (digest === undefined) return {}
  const content = Buffer.from(digest, 'base64').toString('hex')
  return { hashes: [{ alg: `SHA-${algorithm}`, content }] }
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}
