// npm run diagram: docs/pictures/overview.svg, the processes and the files between them. In light and in dark.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const processes = [
  { x: 195, y: 40, name: 'eider collect', what: 'accepts events' },
  { x: 420, y: 40, name: 'eider run', what: 'flush, build, publish' },
  { x: 645, y: 40, name: 'eider serve', what: 'answers OData' },
]
const outside = [
  { x: 0, y: 40, name: 'Senders', what: 'web, apps, scripts' },
  { x: 870, y: 40, name: 'Readers', what: 'Excel, Power BI, Python' },
  { x: 420, y: 270, name: 'Your project', what: 'models, seeds, sources' },
]
const files = [
  { x: 195, y: 155, name: 'Buffer', what: 'events on disk' },
  { x: 420, y: 155, name: 'Warehouse', what: 'tables in DuckDB' },
  { x: 645, y: 155, name: 'Snapshot', what: 'published tables' },
]
const WIDTH = 165
const HEIGHT = 62

const box = (kind) => (one) => `<g class="${kind}">
<rect x="${one.x}" y="${one.y}" width="${WIDTH}" height="${HEIGHT}" rx="${kind === 'file' ? 0 : 8}"/>
<text x="${one.x + WIDTH / 2}" y="${one.y + 27}" class="name">${one.name}</text>
<text x="${one.x + WIDTH / 2}" y="${one.y + 47}">${one.what}</text>
</g>`

const arrow = (path, label = '', x = 0, y = 0) =>
  `<path d="${path}" class="arrow"/>${label && `<text x="${x}" y="${y}">${label}</text>`}`

const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-5 0 1045 345" role="img" aria-label="Processes of eider and the files between them">
<style>
text { font: 13px system-ui, sans-serif; text-anchor: middle; fill: #57606a; }
.name { font-weight: 600; font-size: 15px; fill: #1c2430; }
rect { stroke-width: 1.5; }
.process rect { fill: #dcebfb; stroke: #0b63b8; }
.file rect { fill: #f4f6f9; stroke: #9aa5b1; }
.outside rect { fill: none; stroke: #9aa5b1; stroke-dasharray: 5 4; }
.arrow { fill: none; stroke: #57606a; stroke-width: 1.5; marker-end: url(#head); }
#head path { fill: #57606a; }
@media (prefers-color-scheme: dark) {
text { fill: #a5b0bd; } .name { fill: #e6ebf1; }
.process rect { fill: #12304f; stroke: #79b8ff; } .file rect { fill: #20262e; }
.arrow { stroke: #a5b0bd; } #head path { fill: #a5b0bd; }
}
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>
${outside.map(box('outside')).join('\n')}
${processes.map(box('process')).join('\n')}
${files.map(box('file')).join('\n')}
${arrow('M165 71H193', 'HTTP', 179, 62)}
${arrow('M277 102V153')}
${arrow('M360 186H390V71H418')}
${arrow('M502 102V153')}
${arrow('M502 270V219')}
${arrow('M585 186H643', 'publish', 614, 205)}
${arrow('M727 155V104')}
${arrow('M810 71H868', 'OData', 839, 62)}
</svg>
`
writeFileSync(join(import.meta.dirname, '../docs/pictures/overview.svg'), svg)
