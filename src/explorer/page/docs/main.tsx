// The page of `eider docs`: the views of the explorer that need nothing but a catalog, which lies in the file itself.

import { render } from 'preact'
import type { DocsData } from '../../../core/docs-data.ts'
import { applyTheme } from '../parts/theme.tsx'
import { DocsApp } from './docs-app.tsx'
import { docsPlace } from './docs-page.ts'
import '../page.css'
import '../parts/parts.css'
import '../frame/frame.css'
import './docs.css'

const container = document.getElementById('page')
const text = document.getElementById('data')?.textContent ?? ''
applyTheme()
if (container !== null) {
  const data = JSON.parse(text) as DocsData
  render(<DocsApp place={docsPlace(data)} data={data} />, container)
}
