// A chart of a curve as SVG, in light and in dark: sizes from left to right, the cost of a unit beside that at the
// smallest size upwards, both by powers. A flat line is an operation that grows no faster than its work.

import type { Line } from './curve.ts'

const [WIDTH, HEIGHT] = [720, 330]
const [LEFT, RIGHT, TOP] = [70, 700, 20]
const BOTTOM = 235
const LEGEND_TOP = 285
const LEGEND_COLUMNS = 3
const COLORS = [
  ['#0b63b8', '#79b8ff'],
  ['#b35900', '#ffab70'],
  ['#22863a', '#85e89d'],
  ['#6f42c1', '#b392f0'],
  ['#b31d28', '#f97583'],
  ['#586069', '#d1d5da'],
] as const

export function chart(of: string, lines: readonly Line[]): string {
  const sizes = lines.flatMap(({ points }) => points.map(([size]) => Math.log10(size)))
  const [first, last] = [Math.min(...sizes), Math.max(...sizes)]
  const ratios = lines.map(({ points }) =>
    points.map(([size, ms]) => [Math.log10(size), Math.log10(ms / points[0]![1])] as const),
  )
  const heights = ratios.flatMap((points) => points.map(([, ratio]) => ratio))
  const low = Math.min(-1, Math.floor(Math.min(...heights)))
  const high = Math.max(1, Math.ceil(Math.max(...heights)))
  const x = (size: number) => LEFT + ((size - first) / (last - first || 1)) * (RIGHT - LEFT)
  const y = (ratio: number) => BOTTOM - ((ratio - low) / (high - low)) * (BOTTOM - TOP)
  const grid = powers(low, high).map(
    (power) =>
      `<path d="M${LEFT} ${fixed(y(power))}H${RIGHT}" class="${power === 0 ? 'same' : 'grid'}"/>` +
      `<text x="${LEFT - 8}" y="${fixed(y(power) + 4)}" class="end">${text(power)}</text>`,
  )
  const marks = [...new Set(sizes)].map(
    (size) =>
      `<text x="${fixed(x(size))}" y="${BOTTOM + 18}">${Math.round(10 ** size).toLocaleString('en-US')}</text>`,
  )
  const drawn = ratios.map((points, i) => {
    const places = points.map(([size, ratio]) => `${fixed(x(size))} ${fixed(y(ratio))}`)
    const dots = points.map(
      ([size, ratio]) => `<circle cx="${fixed(x(size))}" cy="${fixed(y(ratio))}" r="3"/>`,
    )
    return `<g class="c${i}"><path d="M${places.join('L')}"/>${dots.join('')}</g>`
  })
  const legend = lines.map(({ operation }, i) => {
    const left = LEFT + (i % LEGEND_COLUMNS) * ((RIGHT - LEFT) / LEGEND_COLUMNS)
    const top = LEGEND_TOP + Math.floor(i / LEGEND_COLUMNS) * 22
    return `<g class="c${i}"><path d="M${fixed(left)} ${top}h18"/></g><text x="${fixed(left + 24)}" y="${top + 4}" class="start">${escape(operation)}</text>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Processor time for a unit of work, by ${escape(of)}">`,
    style(lines.length),
    ...grid,
    ...marks,
    `<text x="${(LEFT + RIGHT) / 2}" y="${BOTTOM + 36}" class="what">${escape(of)}</text>`,
    ...drawn,
    ...legend,
    '</svg>\n',
  ].join('\n')
}

const powers = (low: number, high: number) =>
  Array.from({ length: high - low + 1 }, (_, i) => low + i)

const text = (power: number) => (power < 0 ? `1/${10 ** -power}` : String(10 ** power))

const fixed = (place: number) => place.toFixed(1)

const escape = (words: string) => words.replace(/&/g, '&amp;').replace(/</g, '&lt;')

function style(lines: number): string {
  const colors = (mode: 0 | 1) =>
    COLORS.slice(0, lines)
      .map(
        (pair, i) =>
          `.c${i} path { stroke: ${pair[mode]}; } .c${i} circle { fill: ${pair[mode]}; }`,
      )
      .join('\n')
  return `<style>
text { font: 12px system-ui, sans-serif; text-anchor: middle; fill: #57606a; }
.end { text-anchor: end; } .start { text-anchor: start; } .what { font-weight: 600; }
path { fill: none; stroke-width: 2; } .grid { stroke: #d8dee4; stroke-width: 1; } .same { stroke: #57606a; stroke-width: 1; }
${colors(0)}
@media (prefers-color-scheme: dark) {
text { fill: #a5b0bd; } .grid { stroke: #30363d; } .same { stroke: #a5b0bd; }
${colors(1)}
}
</style>`
}
