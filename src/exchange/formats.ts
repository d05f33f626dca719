// The formats in which models are exchanged. A format has one entry here, and a directory next to it.

import { isMap, stringify } from 'yaml'
import { type Diagnostic, throwIfErrors } from '../core/diagnostics.ts'
import { UsageError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import type { Model } from '../core/model.ts'
import { entitySetName, foldCase } from '../core/names.ts'
import type { SourceFile } from '../core/source-text.ts'
import { didYouMean } from '../core/suggest.ts'
import { readerInto } from '../project/members.ts'
import { parseYaml } from '../project/yaml-problems.ts'
import type { ExchangeFormat, Exported, Said } from './format.ts'
import type { Group } from './nodes.ts'
import { odcs } from './odcs/odcs.ts'
import { ossie } from './ossie/ossie.ts'

const formats = { odcs, ossie } as const satisfies Readonly<Record<string, ExchangeFormat>>

type FormatName = keyof typeof formats

const formatNames = Object.keys(formats) as readonly FormatName[]

/** Throws UsageError for another one. */
export function formatNamed(name: string | undefined): FormatName {
  const found = formatNames.find((one) => one === name)
  if (found !== undefined) return found
  const hint = `the formats are ${formatNames.join(', ')}`
  if (name === undefined) throw new UsageError('a format is missing', { hint })
  throw new UsageError(`there is no format "${name}"`, {
    hint: didYouMean(name, formatNames) ?? hint,
  })
}

export const textOfFormat = (name: FormatName, exported: Exported): string =>
  // Other readers need not know aliases of YAML.
  stringify(formats[name].write(exported), { lineWidth: 0, aliasDuplicateObjects: false })

/** What a file says of these models. Throws DiagnosticsError for one that is of none of the formats, or has mistakes. */
export function readExchanged(source: SourceFile, project: string, models: Iterable<Model>): Said {
  const { document, problems } = parseYaml(source)
  throwIfErrors(problems.slice(0, limits.exchangedMistakes))
  const mistakes: Diagnostic[] = []
  const reader = readerInto(mistakes, source)
  const known = new Map<string, Model>()
  for (const model of models)
    for (const name of [model.name, entitySetName(model.name)]) known.set(foldCase(name), model)
  const modelOf = (name: string) => known.get(foldCase(name)) ?? null
  const root = document.contents
  const group = isMap(root) ? (root as Group) : null
  const format = Object.values(formats).find(({ matches }) => group !== null && matches(group))
  if (group === null || format === undefined) {
    const titles = Object.values(formats).map(({ title }) => title)
    reader.refuse({ start: 0, end: 0 }, source.path, titles.join(' or '))
  }
  const said =
    group === null ? null : (format?.read(group, { ...reader, project, modelOf }) ?? null)
  throwIfErrors(mistakes.slice(0, limits.exchangedMistakes))
  return said!
}
