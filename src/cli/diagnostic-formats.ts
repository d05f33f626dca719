// Diagnostics for programs: events, annotations of GitHub Actions, and SARIF 2.1.0 for code scanning.

import { allCodes, type Diagnostic } from '../core/diagnostics.ts'
import { positionOf } from '../core/source-text.ts'
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

/** One-based, in characters; the end column is the one after. null: the whole file. */
function regionOf({ source, span }: Diagnostic) {
  if (span.end <= span.start) return null
  const [start, end] = [positionOf(source, span.start), positionOf(source, span.end)]
  return {
    startLine: start.line,
    startColumn: start.column,
    endLine: end.line,
    endColumn: end.line === start.line ? Math.max(end.column, start.column + 1) : end.column,
  }
}

const textOf = ({ message, hint }: Diagnostic) =>
  hint === undefined ? message : `${message}\nhint: ${hint}`

/** `root`: path of the project from the root of the repository, with a slash at its end; empty where they are one. */
export function gitHubAnnotation(diagnostic: Diagnostic, root: string): string {
  const { severity, code, source } = diagnostic
  const region = regionOf(diagnostic)
  const isOneLine = region !== null && region.startLine === region.endLine
  const properties = {
    file: root + source.path,
    ...(region === null ? {} : { line: region.startLine, endLine: region.endLine }),
    // GitHub takes columns within one line only.
    ...(isOneLine ? { col: region.startColumn, endColumn: region.endColumn - 1 } : {}),
    title: code,
  }
  const words = Object.entries(properties).map(([name, value]) => `${name}=${escaped(value)}`)
  return `::${severity} ${words.join(',')}::${encoded(textOf(diagnostic))}`
}

const encoded = (text: string) =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const escaped = (value: string | number) =>
  encoded(String(value)).replaceAll(':', '%3A').replaceAll(',', '%2C')

const ruleOf = (id: string) => ({
  id,
  shortDescription: { text: id.replaceAll('-', ' ') },
})

/** A log of one run, https://docs.oasis-open.org/sarif/sarif/v2.1.0/. */
export function sarifLog(
  diagnostics: readonly Diagnostic[],
  { root, version }: { readonly root: string; readonly version: string },
): object {
  const used = allCodes.filter((code) => diagnostics.some((item) => item.code === code))
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'eider', version, rules: used.map(ruleOf) } },
        columnKind: 'unicodeCodePoints',
        results: diagnostics.map((item) => {
          const region = regionOf(item)
          const uri = encodeURI(root + item.source.path).replaceAll(/[?#]/g, encodeURIComponent)
          return {
            ruleId: item.code,
            ruleIndex: used.indexOf(item.code),
            level: item.severity,
            message: { text: textOf(item) },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri, uriBaseId: '%SRCROOT%' },
                  ...(region === null ? {} : { region }),
                },
              },
            ],
          }
        }),
      },
    ],
  }
}

/**
 * Path of the directory from the root of its repository, with a slash at its end; empty where they are one. Without
 * `.git` the root is GITHUB_WORKSPACE, and without that the working directory, where the project lies in it.
 */
export function repositoryPrefix(dir: string): string {
  const project = resolve(dir)
  const roots = [
    repositoryOf(project),
    process.env['GITHUB_WORKSPACE'] ?? null,
    process.cwd(),
  ].filter((root) => root !== null)
  const paths = roots.map((root) => relative(resolve(root), project).split(sep))
  const [inside] = paths.filter(([first]) => first !== '..')
  return inside === undefined || inside[0] === '' ? '' : `${inside.join('/')}/`
}

function repositoryOf(dir: string): string | null {
  if (existsSync(join(dir, '.git'))) return dir
  return dir === dirname(dir) ? null : repositoryOf(dirname(dir))
}
