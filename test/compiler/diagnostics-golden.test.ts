// Every diagnostic as it is printed, from projects with mistakes.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { showDiagnostic } from '../../src/cli/show-diagnostic.ts'
import { boardMistakes } from '../../src/compiler/boards.ts'
import { compile } from '../../src/compiler/compile.ts'
import { readerMistakes } from '../../src/compiler/row-filter.ts'
import { scheduleMistakes, knownModels } from '../../src/compiler/select.ts'
import {
  type Code,
  type Diagnostic,
  DiagnosticsError,
  allCodes,
} from '../../src/core/diagnostics.ts'
import { loadProject } from '../../src/project/load.ts'
import { recipientsInForce } from '../../src/project/notify.ts'
import { goldenProject, testGolden } from '../support/golden.ts'

/** Codes whose diagnostics cannot be misunderstood, so that they may lack a hint. */
const optional: readonly Code[] = [
  // The message says what is expected.
  'annotation-syntax',
  'config-invalid-value',
  'invalid-lookback',
  // Some messages of DuckDB say themselves what to write.
  'sql-binding',
  // The place says it where the words around it say nothing more.
  'sql-syntax',
]

/** Codes of which some diagnostic had no hint. */
const without = new Set<Code>()

const cases = testGolden('diagnostics', async ({ name, files }) => {
  await using project = await goldenProject(files)
  const diagnostics = await diagnosticsOf(project.path)
  const codes = new Set(diagnostics.map(({ code }) => code))
  assert.ok(
    [...codes].some((code) => name === code || name.startsWith(`${code}-`)),
    `${name} shows ${[...codes].join(', ')}`,
  )
  for (const { code, hint } of diagnostics) {
    if (hint === undefined) without.add(code)
    assert.ok(hint !== undefined || optional.includes(code), `a ${code} has no hint`)
  }
  return diagnostics.map((diagnostic) => showDiagnostic(diagnostic) + '\n').join('\n')
})

const elsewhere: readonly Code[] = [
  // Raised by a query, of which no project holds one: test/commands/query-values.test.ts.
  'query-failed',
  // Of a workbook, which DuckDB reads with an extension: test/commands/source-sheets.test.ts.
  'cells-left-out',
]

test('every code has a case', () => {
  const ofProjects = allCodes.filter((code) => !elsewhere.includes(code))
  const missing = ofProjects.filter(
    (code) => !cases.some((name) => name === code || name.startsWith(`${code}-`)),
  )
  assert.equal(missing, [])
})

test('a code that may lack a hint does lack it somewhere', () => {
  assert.equal([...without].toSorted(), optional.toSorted())
})

async function diagnosticsOf(dir: string): Promise<readonly Diagnostic[]> {
  try {
    const project = await loadProject(dir, { env: {}, flags: {} })
    const { files, schedule, notify, secrets, readers } = project
    const compiled = await compile(files, { dir })
    recipientsInForce(notify, secrets)
    return [
      ...compiled.warnings,
      ...boardMistakes(files.boards ?? [], compiled),
      ...scheduleMistakes(schedule, knownModels(compiled)),
      ...(await readerMistakes(readers.tokens, compiled.models.values())),
    ]
  } catch (error) {
    if (error instanceof DiagnosticsError) return error.diagnostics
    throw error
  }
}

test.run()
