// The model that a test is about.

import { sql } from '../../core/sql.ts'
import { tokenize, isSymbol, isWord } from '../../compiler/sql/tokens.ts'
import { lineOf } from '../../core/diagnostics.ts'
import type { CompiledProject, Model, SeedModel } from '../../core/model.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import { didYouMean } from '../../core/suggest.ts'
import { ModelFailure } from '../failure.ts'
import type { Compared } from './expected.ts'

export type TestedModel = Exclude<Model, SeedModel>

/** Throws ModelFailure for a name that no model has which can be tested. */
export function testedModel({ models, failed }: CompiledProject, name: string): TestedModel {
  const isMeant = (known: ModelName) => foldCase(known) === foldCase(name)
  for (const model of models.values()) {
    if (!isMeant(model.name)) continue
    if (model.kind !== 'seed') return model
    throw new ModelFailure(
      `${model.name} is a file, so there is nothing to test; give its rows in a test of a model that reads it`,
      'placed',
    )
  }
  for (const broken of failed.values()) {
    if (!isMeant(broken.name)) continue
    const [mistake] = broken.mistakes
    throw new ModelFailure(
      mistake === undefined ? `${broken.failedBy} does not compile` : lineOf(mistake),
      'placed',
    )
  }
  const hint = didYouMean(name, models.keys())
  throw new ModelFailure(`no model "${name}"${hint === undefined ? '' : `; ${hint}`}`, 'placed')
}

export function comparedModel(model: TestedModel, tolerance: number): Compared {
  return {
    relation: model.name,
    columns: model.columns,
    rows: sql.relation(model.name),
    key: testedKey(model),
    isOrdered: ordersRows(model),
    tolerance,
  }
}

export function testedKey(model: Model): readonly string[] {
  if ('uniqueKey' in model && model.uniqueKey.length > 0)
    // Versions of an scd2 model share their key.
    return model.kind === 'scd2' ? [...model.uniqueKey, 'valid_from'] : model.uniqueKey
  return model.expose?.key ?? []
}

/** The SELECT ends with ORDER BY, and nothing is added to its rows. */
function ordersRows(model: TestedModel): boolean {
  if (model.kind !== 'table' && model.kind !== 'view') return false
  let depth = 0
  const tokens = tokenize(model.body.text).filter(({ kind }) => kind !== 'comment')
  return tokens.some((token, i) => {
    if (isSymbol(token, '(')) depth++
    else if (isSymbol(token, ')')) depth--
    return depth === 0 && isWord(token, 'order') && isWord(tokens[i + 1], 'by')
  })
}
