// Parts of a page that a program writes: all between `<!-- NAME -->` and `<!-- /NAME -->`.

import { readFile, writeFile } from 'node:fs/promises'
import * as prettier from 'prettier'

/** Replaces the parts by their names, and lays the page out. Throws where the page has no such part. */
export async function writeParts(
  file: string,
  parts: Readonly<Record<string, string>>,
): Promise<void> {
  let page = await readFile(file, 'utf8')
  for (const [name, text] of Object.entries(parts)) {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const [from, to] = [page.indexOf(begin), page.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`${file} has no ${begin} with an ${end} below it`)
    page = `${page.slice(0, from)}${begin}\n\n${text.trim()}\n\n${page.slice(to)}`
  }
  const options = await prettier.resolveConfig(file)
  await writeFile(file, await prettier.format(page, { ...options, filepath: file }))
}

/** Whether a page has such a part. */
export const hasPart = async (file: string, name: string): Promise<boolean> =>
  (await readFile(file, 'utf8')).includes(`<!-- ${name} -->`)
