// The explorer in the browser: what is published, what it means, and how to get it.

import { render } from 'preact'
import { App } from './app.tsx'
import { AddressBar, root } from './start.ts'
import { applyTheme } from './parts/theme.tsx'
import './page.css'
import './parts/parts.css'
import './frame/frame.css'

// It is linked relative to the first address, and browsers read the link again whenever the address changes.
const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
if (icon !== null) icon.href = new URL(icon.href).href
const container = document.getElementById('page')
applyTheme()
if (container !== null) {
  render(<App place={new AddressBar(root)} />, container)
}
