// What a project's author did wrong, with the place. A stage collects all of them and throws them once.

import { LONGEST_ODATA_NAME } from './names.ts'
import { placeText, type FilePlace } from './source-text.ts'

type Severity = 'error' | 'warning'

/**
 * Every diagnostic code with its message. The parameters of a message are the parameters of the code.
 * Each code has a golden case in test/golden/diagnostics and a line in docs/errors.md.
 */
const messages = {
  // eider.yml, and the .yml next to a seed
  'config-syntax': (p: { problem: string }) => `this is not valid YAML: ${p.problem}`,
  'config-unknown-key': (p: { key: string }) => `no setting "${p.key}"`,
  'config-invalid-value': (p: { key: string; expected: string }) =>
    `"${p.key}" must be ${p.expected}`,
  'config-missing-key': (p: { key: string }) => `"${p.key}" is missing`,
  'schedule-selector': (p: { run: string; problem: string }) =>
    `the scheduled run "${p.run}": ${p.problem}`,
  'secret-not-set': (p: { key: string; name: string }) =>
    `"${p.key}" needs ${p.name}, which is not set`,
  // .env
  'dotenv-syntax': () => 'expected NAME=value',
  'dotenv-unknown-name': (p: { name: string }) => `no setting has the variable "${p.name}"`,
  // names and headers of model files
  'invalid-model-path': (p: { expected: string }) =>
    `the path does not name a model: expected ${p.expected}`,
  'unreadable-file': (p: { problem: string }) => p.problem,
  'board-unknown-set': (p: { set: string }) => `there is no entity set "${p.set}"`,
  'board-unknown-name': (p: { set: string; what: string; name: string }) =>
    `${p.set} has no ${p.what} "${p.name}"`,
  'board-unknown-option': (p: { what: string; name: string }) =>
    `a chart has no ${p.what} "${p.name}"`,
  'ignored-file': (p: { because: string }) => `this file is not read: ${p.because}`,
  'duplicate-model': (p: { model: string; other: string }) =>
    `${p.other} already defines model "${p.model}"`,
  'annotation-syntax': (p: { expected: string }) =>
    `annotation not understood: expected ${p.expected}`,
  'unknown-annotation': (p: { name: string }) => `no annotation "@${p.name}"`,
  'ignored-annotation': (p: { problem: string }) => p.problem,
  'duplicate-annotation': (p: { name: string; line: number }) =>
    `"@${p.name}" is given twice, first in line ${p.line}`,
  'unknown-kind': (p: { kind: string }) => `no kind "${p.kind}"`,
  'annotation-not-for-kind': (p: { name: string; kind: string }) =>
    `"@${p.name}" has no effect on a model of kind ${p.kind}`,
  'missing-unique-key': (p: { kind: string }) => `a model of kind ${p.kind} needs @unique_key`,
  'missing-incremental': (p: { kind: string }) => `a model of kind ${p.kind} needs @incremental`,
  'missing-period': (p: { kind: string }) => `a model of kind ${p.kind} needs @period`,
  'invalid-period': (p: { period: string; column: string; type: string; expected: string }) =>
    `a period of "${p.column}", which is ${p.type}, cannot be ${p.period}: it must be ${p.expected}`,
  'annotation-conflict': (p: { one: string; other: string }) =>
    `"@${p.one}" cannot be combined with "@${p.other}"`,
  'invalid-lookback': (p: { column: string; type: string; expected: string }) =>
    `a lookback on "${p.column}", which is ${p.type}, must be ${p.expected}`,
  'invalid-valid-from': (p: { column: string; type: string }) =>
    `"@valid_from" needs a column of type DATE, TIMESTAMP or TIMESTAMPTZ, and "${p.column}" is ${p.type}`,
  'invalid-rename': (p: { problem: string }) => p.problem,
  'invalid-keep': (p: { problem: string }) => p.problem,
  'append-over-groups': () =>
    'an append over groups adds a group again whenever late rows change it, so sums over it count twice',
  'merge-over-groups': (p: { watermark: string }) =>
    `a merge over groups without "${p.watermark}" in its key reads only groups that are newer than the rest: one that late rows change, or that is gone, stays as it was`,
  'window-over-others': ({ call, watermark }: { call: string; watermark: string }) =>
    `${call}() looks at rows with other values of "${watermark}": where one of these comes late, changes or goes, rows that are there keep what they have`,
  'unstable-key': ({ column, call }: { column: string; call: string }) =>
    `the key "${column}" is ${call}(), which gives a row another value in each build: links of clients and changes since a state cannot find it`,
  'compared-key': (p: { key: string }) =>
    `"@compare" names only the key (${p.key}), which is the same in all versions of a row: no change of another column makes a new one`,
  'changing-column': (p: { column: string; call: string; effect: string }) =>
    `the column "${p.column}" is ${p.call}, another value in each run, which ${p.effect} each time`,
  'text-watermark': (p: { column: string }) =>
    `the watermark "${p.column}" is VARCHAR, and text is compared letter by letter: '31.01.2026' comes after '01.02.2026', so rows of a later day would not be read`,
  'unordered-watermark': (p: { column: string; type: string }) =>
    `the watermark "${p.column}" is ${p.type}, which does not grow with new rows: those below its highest value would not be read`,
  'null-comparison': (p: { written: string }) =>
    `"${p.written}" is NULL for every row, and a filter keeps none of them`,
  'untyped-null': (p: { column: string; type: string }) =>
    `the column "${p.column}" is NULL without a type, and is published as ${p.type}: another type would break clients later`,
  'reserved-column': (p: { column: string; kind: string }) =>
    `a run adds the column "${p.column}" to a model of kind ${p.kind}`,
  'unknown-key-column': (p: { annotation: string; column: string }) =>
    `"@${p.annotation}" names "${p.column}", which is not a column of this model`,
  'duplicate-key-column': (p: { annotation: string; column: string }) =>
    `"@${p.annotation}" names "${p.column}" twice`,
  'invalid-check': (p: { problem: string }) => p.problem,
  'invalid-measure': (p: { problem: string }) => p.problem,
  'invalid-hierarchy': (p: { problem: string }) => p.problem,
  'invalid-rollup': (p: { problem: string }) => p.problem,
  'invalid-time': (p: { column: string; type: string }) =>
    `"@time" needs a column of type DATE, TIMESTAMP or TIMESTAMPTZ, and "${p.column}" is ${p.type}`,
  'unknown-format': (p: { format: string }) =>
    `"${p.format}" is no format of numbers that is shown, and only other tools get it`,
  'check-without-model': () => 'this check reads no model, and no source that a model reads',
  'check-of-one-row': () =>
    'this SELECT has one row, whatever it counts, so the check finds one each time',
  // bodies
  'empty-body': (p: { expected: string }) => `the file has no body: expected ${p.expected}`,
  'not-a-select': ({ what = 'a model' }: { what?: 'a model' | 'a check' }) =>
    `${what} is one SELECT statement`,
  'template-syntax': () => 'a model is plain SQL, without Jinja such as {{ … }}',
  'merge-conflict': () => 'an unresolved merge conflict',
  'not-a-column-list': (p: { expected: string }) =>
    `an events model is a list of columns: expected ${p.expected}`,
  'duplicate-column': (p: { column: string }) => `two columns are named "${p.column}"`,
  'renamed-column': (p: { column: string; name: string }) =>
    `two columns are named "${p.column}", so the second becomes "${p.name}"`,
  'invalid-column-type': (p: { type: string; problem: string }) =>
    `"${p.type}" is not a column type${p.problem === '' ? '' : `: ${p.problem}`}`,
  'seed-row': (p: { problem: string }) => p.problem,
  'duplicate-seed-column': (p: { column: string; name: string }) =>
    `the header has "${p.column}" twice; the second is read as "${p.name}"`,
  'decimal-comma': (p: { column: string; example: string }) =>
    `the column "${p.column}" has numbers with a comma, such as ${p.example}, which are read as text`,
  'numbers-as-text': (p: { problem: string }) => p.problem,
  'blank-rows': (p: { problem: string }) => p.problem,
  'cells-left-out': (p: { problem: string }) => p.problem,
  'unknown-seed-column': (p: { column: string }) => `the seed has no column "${p.column}"`,
  'untyped-empty-seed': (p: { columns: string }) =>
    `the seed has no rows to infer types from, so these columns are VARCHAR: ${p.columns}`,
  'sql-syntax': (p: { problem: string }) => p.problem,
  'sql-binding': (p: { problem: string }) => p.problem,
  'query-failed': (p: { problem: string }) => p.problem,
  'unknown-variable': (p: { name: string }) => `no variable "${p.name}"`,
  'invalid-variable': (p: { problem: string }) => p.problem,
  'quoted-variable': (p: { name: string; what: string }) =>
    `\${${p.name}} is in quotes, so it is ${p.what} and not the variable`,
  'variable-as-text': (p: { name: string; value: string }) =>
    `\${${p.name}} is the text '${p.value}' in each row, and not the column`,
  'model-parameter': () => 'a model has no parameters',
  'hidden-reference': (p: { function: string }) =>
    `"${p.function}" hides what the model reads: its argument is known only when it runs`,
  'dynamic-pivot': (p: { use: string }) =>
    `a PIVOT without IN takes its columns from the data, which ${p.use}`,
  'not-a-macro': (p: { expected: string }) =>
    `a macro file is a list of macros: expected ${p.expected}`,
  // sources
  'invalid-source': (p: { name: string; problem: string }) =>
    `the source "${p.name}" cannot be read: ${p.problem}`,
  'invalid-lock': () => 'this is not a lock file of extensions',
  'extension-missing': (p: { name: string; extension: string }) =>
    `the source "${p.name}" needs the extension ${p.extension}, which is not installed`,
  // the graph
  'unknown-model': (p: { name: string }) => `no model "${p.name}"`,
  'dependency-cycle': ({ models }: { models: readonly string[] }) =>
    models.length === 1
      ? `${models[0]} reads itself`
      : `these models depend on each other: ${[...models, models[0]].join(' -> ')}`,
  // what the target can store
  'lake-type': (p: { column: string; type: string }) =>
    `a lake cannot store the column "${p.column}", which is ${p.type}`,
  // what is exposed
  'exposed-name': (p: { name: string; what: string }) =>
    p.name.length > LONGEST_ODATA_NAME
      ? `${p.what} "${p.name.slice(0, 30)}…" cannot be exposed: it has ${p.name.length} characters, and a name in OData has ${LONGEST_ODATA_NAME} at most`
      : `${p.what} "${p.name}" cannot be exposed: a name in OData has letters, digits and underscores only, and does not start with a digit`,
  'exposed-unnamed-column': (p: { column: string }) =>
    `the column "${p.column}" is an expression without a name, and cannot be exposed`,
  'exposed-without-key': () =>
    'without a key, clients cannot address a single row, and some refuse every entity set of the service',
  'exposed-huge-integer': (p: { column: string; type: string }) =>
    `the exposed column "${p.column}" is ${p.type}, which clients read as a decimal number; Olingo cannot read more than 15 digits`,
  'expose-not-unique': (p: { key: string }) =>
    `an scd2 model keeps several versions of each ${p.key}, so that key is not unique`,
  'contract-broken': (p: { problem: string }) => `the contract is broken: ${p.problem}`,
  'fresh-not-exposed': () => '"@fresh" is for models that are served, and this one is not exposed',
  'contract-empty': () => 'the contract has no columns yet',
  'token-set-closed': (p: { token: string; sets: string; pattern: string }) =>
    `the token "${p.token}" does not see ${p.sets}: it has filters of rows, and then the pattern "${p.pattern}" opens only sets that a filter is for`,
  'exposed-set-clash': (p: { set: string; other: string }) =>
    `${p.other} already has the entity set "${p.set}"`,
} as const satisfies Record<string, (parameters: never) => string>

export type Code = keyof typeof messages

/** The others are errors. */
const warnings: ReadonlySet<Code> = new Set<Code>([
  'dotenv-unknown-name',
  'board-unknown-set',
  'board-unknown-name',
  'board-unknown-option',
  'ignored-file',
  'ignored-annotation',
  'append-over-groups',
  'merge-over-groups',
  'window-over-others',
  'unstable-key',
  'compared-key',
  'changing-column',
  'text-watermark',
  'unordered-watermark',
  'null-comparison',
  'untyped-null',
  'decimal-comma',
  'numbers-as-text',
  'blank-rows',
  'cells-left-out',
  'renamed-column',
  'duplicate-seed-column',
  'untyped-empty-seed',
  'quoted-variable',
  'variable-as-text',
  'check-of-one-row',
  'unknown-format',
  'exposed-without-key',
  'exposed-huge-integer',
  'token-set-closed',
])

type Parameters<C extends Code> = Parameters_<(typeof messages)[C]>
type Parameters_<F> = F extends () => string
  ? {}
  : F extends (parameters: infer P) => string
    ? P
    : never

export interface Diagnostic extends FilePlace {
  readonly code: Code
  readonly severity: Severity
  readonly message: string
  readonly hint?: string
}

export const allCodes = Object.keys(messages) as readonly Code[]

export function diagnostic<C extends Code>(
  code: C,
  parameters: Parameters<C>,
  at: FilePlace,
  hint?: string,
): Diagnostic {
  const print = messages[code] as (parameters: Parameters<C>) => string
  const severity = warnings.has(code) ? 'warning' : 'error'
  const { source, span } = at
  const message = withSeenBlanks(print(parameters))
  const found = { code, severity, message, source, span } as const
  return hint === undefined ? found : { ...found, hint }
}

/** Characters that nobody sees in a name: blanks of Unicode but the plain one, those without width, marks of direction. */
const UNSEEN = /[\u00a0\u00ad\u2000-\u200b\u200e\u200f\u202a-\u202f\u205f-\u2064\u3000\ufeff]/g

const withSeenBlanks = (message: string): string =>
  message.replaceAll(UNSEEN, (one) => {
    const code = one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
    return `<U+${code}>`
  })

export function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.source.path !== b.source.path) return a.source.path < b.source.path ? -1 : 1
  return a.span.start - b.span.start
}

/** One line with the place. */
export const lineOf = ({ source, span, message }: Diagnostic): string =>
  `${placeText(source, span.start)}: ${message}`

/** Thrown once by a stage that found errors; exit code 1. */
export class DiagnosticsError extends Error {
  override name = 'DiagnosticsError'
  readonly diagnostics: readonly Diagnostic[]
  constructor(diagnostics: readonly Diagnostic[]) {
    super(
      diagnostics
        .map(({ source, code, message }) => `${source.path} ${code}: ${message}`)
        .join('\n'),
    )
    this.diagnostics = diagnostics
  }
}

export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some(({ severity }) => severity === 'error')

export function throwIfErrors(diagnostics: readonly Diagnostic[]): void {
  if (hasErrors(diagnostics)) throw new DiagnosticsError(diagnostics)
}
