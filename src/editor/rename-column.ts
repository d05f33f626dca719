// Renames a column of a model: where its SELECT gives it the name, in the annotations, and in all that reads it. Readers
// keep the names of their own columns, so a rename goes one step and no further.

import { join } from 'node:path'
import { readTextLater } from '../files/read-file.ts'
import { parseHeader } from '../compiler/annotations/annotations.ts'
import { outputColumnSpan, statementsOf, isSymbol, tokenize } from '../compiler/sql/tokens.ts'
import type { Model } from '../core/model.ts'
import { type ModelName, sameName } from '../core/names.ts'
import { readModelTests } from '../project/model-tests.ts'
import type { EditedProject, LastCompile } from './edited-project.ts'
import { type Change, type SpanEdit, EditsByFile, quoted, Refusal, written } from './edits.ts'
import { allMentions, isSameThing, type Thing } from './names.ts'
import { requireSameMeaning } from './same-meaning.ts'

/** A column that a rename may change. */
type OwnColumn = Thing & { readonly column: string }

/** Throws Refusal where the column is not given its name by a SELECT. */
export function renamableModel({ compiled }: LastCompile, { model }: Thing): Model {
  const found = compiled.models.get(model as ModelName)
  if (found === undefined)
    throw new Refusal(`${model} is a source: its names are those of the database or the file`)
  if (found.kind === 'events')
    throw new Refusal(
      `${model} takes events: senders would have to change too; give it another name in a model that reads it`,
    )
  if (found.kind === 'seed') throw new Refusal(`${model} is a seed: change its file`)
  return found
}

export function refuseErrors({ compiled }: LastCompile): void {
  if (compiled.errors.length > 0)
    throw new Refusal('the project has errors: fix them first, because a rename could miss names')
}

export async function columnRename(
  project: EditedProject,
  understood: LastCompile,
  column: OwnColumn,
  name: string,
): Promise<Change> {
  const model = renamableModel(understood, column)
  refuseErrors(understood)
  if (model.columns.some((other) => sameName(other.name, name) && other.name !== column.column))
    throw new Refusal(`${model.name} already has a column ${name}`)
  refusePromised(model, column.column)
  // A word may be one of the engine's own, which only the engine knows.
  const spellings = [...new Set([written(name), quoted(name)])]
  let refused: Refusal | null = null
  for (const spelling of spellings) {
    const changes = editsOf(understood, model, column, spelling)
    await addFixtures(changes, project.dir, column, name)
    const after = await project.compileWith(changes.texts)
    try {
      requireSameMeaning(understood.compiled, after.compiled, (thing) =>
        isSameThing(thing, column) ? { model: thing.model, column: name } : thing,
      )
      return { edits: changes.edits, moves: [] }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refused ??= error
    }
  }
  throw refused!
}

function refusePromised({ source, name }: Model, column: string): void {
  const { header } = parseHeader(source, statementsOf(source).header)
  const promised = (header.contract ?? []).map(({ value }) => value)
  if (promised.some((value) => value.is === 'column' && sameName(value.column, column)))
    throw new Refusal(`the @contract of ${name} promises ${column} to clients: change it first`)
}

function editsOf(
  understood: LastCompile,
  model: Model,
  column: OwnColumn,
  spelling: string,
): EditsByFile {
  const changes = new EditsByFile()
  for (const mention of allMentions(understood)) {
    if (!isSameThing(mention, column)) continue
    const { source, span, isItem } = mention
    const before = source.text.slice(span.start, span.end)
    changes.add(source, { ...span, text: isItem ? `${spelling} AS ${before}` : spelling })
  }
  changes.add(model.source, ownEdit(model, column.column, spelling))
  return changes
}

/** Where the SELECT list gives the name: `… AS name` is changed, a bare name gets an AS. */
function ownEdit(model: Model, column: string, spelling: string): SpanEdit {
  if (!('body' in model)) throw new Refusal(`${model.name} has no SELECT`)
  const { body } = model
  const item = outputColumnSpan(body.text, column)
  if (item === null)
    throw new Refusal(
      `the SELECT of ${model.name} does not name ${column}: it may come by *; name it first`,
    )
  const tokens = tokenize(body.text.slice(item.start, item.end))
  const last = tokens.at(-1)!
  const isBare = tokens.every((token, i) => (i % 2 === 1) === isSymbol(token, '.'))
  const place = { start: item.start + last.start, end: item.start + last.end }
  const { start, end } = body.spanInFile(place)
  return isBare ? { start: end, end, text: ` AS ${spelling}` } : { start, end, text: spelling }
}

/** Headers of CSV files with rows of the model. */
async function addFixtures(
  changes: EditsByFile,
  dir: string,
  { model, column }: OwnColumn,
  name: string,
): Promise<void> {
  for (const test of await readModelTests(dir))
    for (const { given, expect } of test.runs) {
      const own = given.filter(({ relation }) => sameName(relation, model))
      const other = own.find(({ format }) => format !== 'csv')
      if (other !== undefined)
        throw new Refusal(`${other.path} has rows of ${model}: only those in CSV are renamed`)
      const paths = own.map(({ path }) => path)
      if (expect !== null && sameName(test.model, model)) paths.push(expect)
      for (const path of paths) {
        const text = await readTextLater(join(dir, path))
        const edit = headerEdit(text, column, name)
        if (edit !== null) changes.add({ path, text }, edit)
      }
    }
}

function headerEdit(text: string, column: string, name: string): SpanEdit | null {
  const [header = ''] = text.split(/\r?\n/, 1)
  let start = 0
  for (const field of header.split(',')) {
    if (sameName(field.replace(/^"(.*)"$/, '$1'), column))
      return { start, end: start + field.length, text: /[",]/.test(name) ? quoted(name) : name }
    start += field.length + 1
  }
  return null
}
