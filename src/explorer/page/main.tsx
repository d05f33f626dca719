// The explorer in the browser: what is published, what it means, and how to get it.

import { render } from 'preact'
import { App } from './app.tsx'
import { Place } from './place.ts'
import { applyTheme } from './parts/theme.tsx'
import type { Page } from './page.ts'
import { awaitCatalog, startPage } from './start.ts'
import './page.css'
import './parts/parts.css'
import './frame/frame.css'

// The script lies one directory below the root of the server, wherever a proxy has put that.
const root = new URL('..', import.meta.url)
// It is linked relative to the first address, and browsers read the link anew whenever the address changes.
const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
if (icon !== null) icon.href = new URL(icon.href).href
const container = document.getElementById('page')
applyTheme()
if (container !== null) {
  const place = new Place(root)
  place.listen()
  const start = () => startPage(root, place)
  const listen = (page: Page, changed: (page: Page) => void) => awaitCatalog(root, page, changed)
  render(<App place={place} start={start} listen={listen} />, container)
}
