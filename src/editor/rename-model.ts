// Renames a model: its file, its name in all that reads it, in the schedule, and the rows of tests that stand for it.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Model } from '../core/model.ts'
import {
  entitySetName,
  type ModelName,
  parseModelName,
  sameName,
  splitModelName,
} from '../core/names.ts'
import { isReservedSchema } from '../project/files.ts'
import { readModelTests } from '../project/model-tests.ts'
import type { EditedProject, LastCompile } from './edited-project.ts'
import { type Change, EditsByFile, Refusal, written } from './edits.ts'
import { allMentions } from './names.ts'
import { refuseErrors, renamableModel } from './rename-column.ts'
import { requireSameMeaning } from './same-meaning.ts'

/** `given`: `schema.table`, or a table in the same schema. `next`: what is left to do, as a command. */
export async function modelRename(
  project: EditedProject,
  understood: LastCompile,
  name: string,
  given: string,
): Promise<Change & { readonly next: string }> {
  const model = renamableModel(understood, { model: name, column: null })
  refuseErrors(understood)
  const to = newName(understood, model, given.replaceAll('"', ''))
  const changes = editsOf(understood, model, to)
  const file = (of: ModelName) => `models/${of.replace('.', '/')}.sql`
  const from = model.source.path
  const texts = new Map([
    ...changes.texts,
    [file(to), changes.texts.get(from) ?? model.source.text],
  ])
  texts.delete(from)
  const after = await project.compileWith(texts, from)
  requireSameMeaning(understood.compiled, after.compiled, (thing) =>
    sameName(thing.model, model.name) ? { ...thing, model: to } : thing,
  )
  const moves = [{ from, to: file(to) }, ...(await movedTests(project.dir, model.name, to))]
  return { edits: changes.edits, moves, next: `eider mv ${model.name} ${to}` }
}

function newName({ project, compiled }: LastCompile, model: Model, given: string): ModelName {
  const { schema } = splitModelName(model.name)
  const name = parseModelName(given.includes('.') ? given : `${schema}.${given}`)
  if (name === null) throw new Refusal(`a model is named schema.table, not ${given}`)
  const taken = splitModelName(name).schema
  if (isReservedSchema(taken, project.paths.database))
    throw new Refusal(`the schema ${taken} is taken`)
  const all = [...compiled.models.values()]
  const other = all.find((one) => sameName(one.name, name) && one !== model)
  if (other !== undefined) throw new Refusal(`${other.source.path} already defines ${name}`)
  const set = entitySetName(name)
  const clash = all.find(
    (one) => one.expose !== null && one !== model && entitySetName(one.name) === set,
  )
  if (model.expose !== null && clash !== undefined)
    throw new Refusal(`${clash.name} has the entity set ${set}`)
  return name
}

function editsOf(understood: LastCompile, model: Model, to: ModelName): EditsByFile {
  const { schema, table } = splitModelName(to)
  const whole = `${written(schema)}.${written(table)}`
  const changes = new EditsByFile()
  for (const { source, span, model: named, column, qualifier } of allMentions(understood)) {
    if (!sameName(named, model.name)) continue
    if (column === null) changes.add(source, { ...span, text: whole })
    else if (qualifier !== undefined) {
      const isWhole = source.text.slice(qualifier.start, qualifier.end).includes('.')
      changes.add(source, { ...qualifier, text: isWhole ? whole : written(table) })
    }
  }
  const { runs, source } = understood.project.schedule
  for (const { select, exclude } of runs)
    for (const { span } of [...select, ...exclude]) {
      const name = new RegExp(`(?<![\\w.:])${model.name.replace('.', '\\.')}(?![\\w.])`, 'i')
      const at = source.text.slice(span.start, span.end).search(name)
      if (at === -1) continue
      const start = span.start + at
      changes.add(source, { start, end: start + model.name.length, text: to })
    }
  return changes
}

async function movedTests(dir: string, from: ModelName, to: ModelName): Promise<Change['moves']> {
  const moves: { from: string; to: string }[] = []
  for (const { runs } of await readModelTests(dir))
    for (const { given } of runs)
      for (const { relation, path, format } of given)
        if (sameName(relation, from))
          moves.push({ from: path, to: join(path, '..', `${to}.${format}`) })
  const folder = (name: ModelName) => `tests/${name.replace('.', '/')}`
  const own = existsSync(join(dir, folder(from))) ? [{ from: folder(from), to: folder(to) }] : []
  const taken = [...moves, ...own].find((move) => existsSync(join(dir, move.to)))
  if (taken !== undefined) throw new Refusal(`${taken.to} already exists`)
  // A folder comes last: what is in it is found by its old path.
  return [...moves, ...own]
}
