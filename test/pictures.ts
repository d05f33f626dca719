// npm run pictures: the pictures of the explorer in docs/pictures, of a copy of example-project. Needs a Chromium
// (test/support/browser.ts).

import { cp, mkdir, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { launch } from './support/browser.ts'
import { startDaemon } from './support/daemon-process.ts'
import { openPage } from './support/explorer-page.ts'
import { repository, workspace, type Workspace } from './support/workspace.ts'

/** `ready` is the last thing to be drawn. */
const pictures = [
  {
    name: 'rows',
    path: "/sets/core_orders?$filter=status%20eq%20'shipped'&$orderby=placed_at%20desc",
    ready: '[role=gridcell], td',
  },
  { name: 'columns', path: '/sets/core_orders/columns', ready: 'td svg' },
  { name: 'chart', path: '/sets/mart_daily_revenue/chart', ready: '.picture path' },
  {
    name: 'lineage',
    path: '/lineage?model=core.orders&column=goods_total',
    ready: '.lineage-picture',
  },
  { name: 'runs', path: '/runs', ready: 'td' },
  { name: 'home', path: '/', ready: 'main h2' },
  { name: 'rows-dark', path: '/sets/core_customers', ready: '[role=gridcell], td', isDark: true },
] as const

const dir = join(repository, 'docs', 'pictures')
await mkdir(dir, { recursive: true })
await using space = await workspace()
await cp(join(repository, 'example-project'), space.dir, { recursive: true })
await collect(space)
await space.ok(['run'])
{
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  const browser = await launch()
  try {
    for (const { name, path, ready, ...more } of pictures) {
      await using opened = await openPage(
        { base: service.url, browser },
        {
          viewport: { width: 1180, height: 680 },
          colorScheme: 'isDark' in more ? 'dark' : 'light',
          reducedMotion: 'reduce',
        },
      )
      await opened.visit(path)
      await opened.page.locator(ready).first().waitFor()
      await opened.page.waitForLoadState('networkidle')
      await opened.page.screenshot({ path: join(dir, `${name}.png`) })
      if (opened.faults.length > 0) throw new Error(`${path}: ${opened.faults.join('\n')}`)
      process.stdout.write(`docs/pictures/${name}.png\n`)
    }
  } finally {
    await browser.close()
  }
  await service.stop()
}

/** The events of the example, and a run on them. */
async function collect(shop: Workspace): Promise<void> {
  await using daemon = await startDaemon(shop, '--quiet')
  for (const file of (await readdir(shop.path('events'))).toSorted()) {
    const target = file.replace(/\.ndjson$/, '').replace('.', '/')
    const response = await fetch(`${daemon.url}/collect/${target}/batch`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: await readFile(shop.path('events', file)),
    })
    if (response.status !== 202) throw new Error(`${target}: ${response.status}`)
  }
  await shop.ok(['run'], { env: { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port } })
  await daemon.stop()
}
