// $metadata of published projects, as XML and as JSON, shown with a line for each element.

import { test } from 'uvu'
import { Resources } from '../../../src/core/resources.ts'
import { testGolden, writeFiles } from '../../support/golden.ts'
import { serveSnapshots } from '../../support/odata-service.ts'
import { pullPublished, runProject } from '../../support/pipeline-project.ts'
import { workspaceOnTarget } from '../../support/workspace-on-target.ts'

testGolden('csdl', async ({ files }) => {
  await using resources = new Resources()
  const { dir, paths } = resources.use(await workspaceOnTarget({ name: 'golden' }))
  await writeFiles(dir, files)
  await runProject(paths)
  await pullPublished(paths)
  const served = await serveSnapshots(resources, paths.snapshots)
  const xml = await served.get('$metadata')
  const json = await served.get('$metadata?$format=json')
  return `${indented(xml.text)}\n${JSON.stringify(json.json, null, 2)}\n`
})

/** Each element on a line; text stays with its element. */
function indented(xml: string): string {
  let depth = 0
  let text = ''
  for (const piece of xml.split(/(?<=>)\s*(?=<)/)) {
    if (piece.startsWith('</')) depth--
    text += `${'  '.repeat(depth)}${piece}\n`
    if (/^<[^?/]/.test(piece) && !piece.endsWith('/>') && !piece.includes('</')) depth++
  }
  return text
}

test.run()
