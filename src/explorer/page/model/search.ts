// Search over what is published: sets and columns with what is said of them, owners, tags, and models. In the page,
// without a request.

import type { Catalog } from '../../../core/catalog.ts'
import { encodeOption } from '../address/options.ts'
import type { Route } from '../address/route.ts'
import { errorsIn, isNear } from './distance.ts'
import type { EntitySet } from './schema.ts'

export interface Hit {
  readonly route: Route
  readonly title: string
  /** The set of a column, or the description that was found. */
  readonly detail: string
}

const MOST_HITS = 20

/** What may be found. All words must be in one of these, at least one of them in what it says itself. */
interface Candidate extends Hit {
  readonly name: string
  readonly said: string
  /** The name of what it belongs to, such as the set of a column. */
  readonly about: string
  /** Added to its rank, so that sets come before columns. */
  readonly after: number
}

/** Names come before descriptions, beginnings before the rest; only where nothing is found, words with typing errors. */
export function searchSets(
  sets: readonly EntitySet[],
  text: string,
  catalog: Pick<Catalog, 'models'> | null = null,
): readonly Hit[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const candidates = candidatesOf(sets, catalog)
  const exact = found(candidates, words, rankOf)
  return exact.length > 0 ? exact : found(candidates, words, rankOfMistyped)
}

function found(
  candidates: readonly Candidate[],
  words: readonly string[],
  rank: (word: string, of: Candidate) => number | undefined,
): readonly Hit[] {
  const hits: (Candidate & { readonly rank: number })[] = []
  for (const candidate of candidates) {
    const ranks = words.map((word) => rank(word, candidate))
    if (ranks.includes(undefined) || ranks.every((one) => one === ABOUT)) continue
    const worst = Math.max(...(ranks as number[]))
    hits.push({ ...candidate, rank: worst + candidate.after })
  }
  return hits.toSorted((a, b) => a.rank - b.rank).slice(0, MOST_HITS)
}

const ABOUT = 3

function rankOf(word: string, { name, said, about }: Candidate): number | undefined {
  if (name.startsWith(word)) return 0
  if (name.includes(word)) return 1
  if (said.includes(word)) return 2
  return about.includes(word) ? ABOUT : undefined
}

function rankOfMistyped(word: string, candidate: Candidate): number | undefined {
  const rank = rankOf(word, candidate)
  const most = errorsIn(word)
  if (rank !== undefined || most === 0) return rank
  const isLike = (text: string) =>
    [text, ...text.split(/[^\p{L}\p{N}]+/u)].some((part) => isNear(part, word, most))
  if (isLike(candidate.name)) return 1
  if (isLike(candidate.said)) return 2
  return isLike(candidate.about) ? ABOUT : undefined
}

function candidatesOf(
  sets: readonly EntitySet[],
  catalog: Pick<Catalog, 'models'> | null,
): readonly Candidate[] {
  const models = catalog?.models ?? []
  const modelOf = new Map(models.map((model) => [model.set, model]))
  const low = (...texts: readonly (string | null | undefined)[]) =>
    texts.filter(Boolean).join(' ').toLowerCase()
  const ofSets = sets.flatMap((set): readonly Candidate[] => {
    const model = modelOf.get(set.name)
    const facts = [model?.name, model?.owner, ...(model?.tags ?? [])]
    const about = low(set.name, set.description, ...facts)
    const own: Candidate = {
      route: { view: 'rows', set: set.name, query: '' },
      title: set.name,
      detail: set.description ?? '',
      name: low(set.name),
      said: low(set.description, ...facts),
      about: '',
      after: 0,
    }
    const columns = set.properties.map(({ name, description }) => ({
      route: { view: 'columns', set: set.name, query: `column=${encodeOption(name)}` } as const,
      title: name,
      detail: description === undefined ? set.name : `${set.name}: ${description}`,
      name: low(name),
      said: low(description),
      about,
      after: 0.5,
    }))
    return [own, ...columns]
  })
  const published = new Set(sets.map(({ name }) => name))
  const others = models
    .filter(({ set }) => set === null || !published.has(set))
    .map((model) => ({
      route: { view: 'lineage', query: `model=${encodeOption(model.name)}` } as const,
      title: model.name,
      detail:
        model.description ??
        (model.set === null ? 'a model that is not exposed' : `${model.set}: not published yet`),
      name: low(model.name),
      said: low(model.description, model.owner, ...model.tags),
      about: '',
      after: 0.7,
    }))
  return [...ofSets, ...others]
}
