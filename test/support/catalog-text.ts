// A catalog as a run writes it, for tests of the explorer: one set, model and source a line.

interface CatalogParts {
  readonly runs: object
  readonly snapshot: string
  readonly publishedAt: string
  readonly sets: readonly object[]
  readonly models: readonly object[]
  readonly sources?: readonly object[]
}

export function catalogText(parts: CatalogParts): string {
  const { runs, snapshot, publishedAt, sets, models, sources = [] } = parts
  const lines = (of: readonly object[]) => of.map((one) => JSON.stringify(one)).join(',\n')
  return `{"format":1,"of":"x",
${JSON.stringify(runs).slice(1, -1)},
"snapshot":"${snapshot}","published_at":"${publishedAt}","run_id":"first",
"sets":[
${lines(sets)}
],"models":[
${lines(models)}
],"sources":[
${lines(sources)}
]}
`
}
