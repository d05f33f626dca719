// The page of `eider docs`: one file, with its script, its style and its data in it.

import type { DocsData } from '../core/catalog.ts'

const PLACE = '<script type="application/json" id="data">'

/** `template` is docs.html as it is bundled. */
export function docsFile(template: string, data: DocsData): string {
  const at = template.indexOf(PLACE)
  if (at < 0) throw new Error('docs.html has no place for data')
  const start = at + PLACE.length
  return template.slice(0, start) + withoutMarkup(data) + template.slice(start)
}

/** No text of the data can end the element that it stands in. */
const withoutMarkup = (data: DocsData) => JSON.stringify(data).replaceAll('<', '\\u003c')

// The lineage of models as a Mermaid diagram, which GitHub and GitLab draw within Markdown.

const SIGNS = { added: '+', removed: '−', changed: '~', affected: '›' } as const
const CLASSES = [
  'classDef added stroke:#2a7d2a,stroke-width:3px',
  'classDef removed stroke:#b22222,stroke-width:3px,stroke-dasharray:5 3',
  'classDef changed stroke:#b26b00,stroke-width:3px',
  'classDef affected stroke:#b26b00,stroke-dasharray:2 2',
]

export function mermaidOf({ catalog, changes }: Pick<DocsData, 'catalog' | 'changes'>): string {
  const ids = new Map<string, string>()
  // Names may be any text; only these ids are safe in the language.
  const idOf = (name: string) => {
    const id = ids.get(name) ?? `n${ids.size}`
    ids.set(name, id)
    return id
  }
  const lines = ['graph LR']
  for (const { name } of catalog.sources) lines.push(`  ${idOf(name)}[(${quoted(name)})]`)
  for (const { name, kind, set } of catalog.models) {
    const change = changes?.models[name]
    const label = change === undefined ? name : `${SIGNS[change.is]} ${name}`
    const [open, close] = kind === 'events' || kind === 'seed' ? ['[/', '/]'] : ['[', ']']
    const mark = change === undefined ? '' : `:::${change.is}`
    lines.push(`  ${idOf(name)}${open}${quoted(label)}${close}${mark}`)
    if (set !== null) lines.push(`  ${idOf(`set ${set}`)}([${quoted(set)}])`)
  }
  for (const { name, depends_on: reads, sources, set } of catalog.models) {
    for (const read of [...sources, ...reads])
      if (ids.has(read)) lines.push(`  ${idOf(read)} --> ${idOf(name)}`)
    if (set !== null) lines.push(`  ${idOf(name)} --> ${idOf(`set ${set}`)}`)
  }
  if (changes !== null) lines.push(...CLASSES.map((line) => `  ${line}`))
  return lines.join('\n') + '\n'
}

const ENTITIES: Readonly<Record<string, string>> = { '"': '#quot;', '<': '#lt;', '>': '#gt;' }

const quoted = (text: string) =>
  `"${text.replaceAll('#', '#35;').replace(/["<>]/g, (mark) => ENTITIES[mark]!)}"`
