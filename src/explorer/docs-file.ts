// The page of `eider docs`: one file, with its script, its style and its data in it.

import type { DocsData } from '../core/docs-data.ts'

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
