// The line above a model, and its outline.

import { hostAndPort } from '../core/host-text.ts'
import {
  type CodeLens,
  type DocumentSymbol,
  type Position,
  type Range,
  SymbolKind,
} from 'vscode-languageserver/node'
import { entitySetName } from '../core/names.ts'
import type { Model } from '../core/model.ts'
import type { LastCompile } from './edited-project.ts'
import { readersOf } from './hover.ts'
import { lastRunOf } from './last-run.ts'
import { definedIn } from './names.ts'
import { positionAt, lspRange } from './positions.ts'

/** Opens a page in the browser. */
export const OPEN = 'eider.open'

const TOP: Position = { line: 0, character: 0 }
const FIRST: Range = { start: TOP, end: TOP }

export function lensesOf({ compiled, project }: LastCompile, path: string): CodeLens[] {
  const model = modelIn(compiled.models.values(), path)
  if (model === null) return []
  const { name, kind, expose } = model
  const readers = readersOf(compiled, name).length
  const built = lastRunOf(project.paths.target, name)
  const words = [kind, ...(built === null ? [] : [built]), `read by ${readers}`]
  const range = FIRST
  const about = { range, command: { title: words.join(' · '), command: '' } }
  if (expose === null) return [about]
  const { 'odata.host': host, 'odata.port': port } = project.settings
  const set = entitySetName(name)
  const url = `http://${hostAndPort(host, port)}/odata/${set}`
  const command = { title: `served as ${set}`, command: OPEN, arguments: [url] }
  return [about, { range, command }]
}

export function symbolsOf({ compiled }: LastCompile, path: string): DocumentSymbol[] {
  const model = modelIn(compiled.models.values(), path)
  if (model === null) return []
  const { name, kind, source } = model
  const range: Range = { start: TOP, end: positionAt(source, source.text.length) }
  const children = model.columns.flatMap((column): DocumentSymbol[] => {
    const span = definedIn(model, column.name)
    if (span === null) return []
    const place = lspRange(source, span)
    const { name: label, type: detail } = column
    const kind = SymbolKind.Field
    return [{ name: label, detail, kind, range: place, selectionRange: place }]
  })
  return [{ name, detail: kind, kind: SymbolKind.Class, range, selectionRange: FIRST, children }]
}

const modelIn = (models: Iterable<Model>, path: string): Model | null =>
  Array.from(models).find(({ source, kind }) => source.path === path && kind !== 'seed') ?? null
