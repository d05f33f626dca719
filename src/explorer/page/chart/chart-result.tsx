import type { IncompleteEnds } from './incomplete.ts'
import { Button } from '../parts/button.tsx'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatNumber, groupDigits } from '../model/show.ts'
import type { EntitySet, Label } from '../model/schema.ts'
import { CopyButton, RequestBar } from '../parts/request-bar.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { requestOfChart } from '../recipes/recipes.ts'
import { useRowsContext } from '../rows/rows-context.ts'
import { ConnectRegion, ToolButtons } from '../recipes/recipe-text.tsx'
import { BarChart, ColumnChart, LineChart, seriesClass } from '../pictures/charts.tsx'
import { type ChartData, type ChartTable, type ChartTableRow, csvOf } from './chart-data.ts'
import type { Route } from '../address/route.ts'
import { Link } from '../parts/link.tsx'

export interface ChartResultProps {
  readonly set: EntitySet
  readonly data: ChartData
  readonly table: ChartTable
  readonly title: string
  readonly query: string
  readonly onPick: (first: number, last: number) => void
  /** The rows of a mark; undefined where no filter means them. */
  readonly rowsOf: (mark: number) => Route | undefined
  readonly incomplete: IncompleteEnds | undefined
  readonly unit: string | undefined
  /** The period before, with its request. */
  readonly compared:
    | { readonly query: string; readonly name: string; readonly values: readonly (string | null)[] }
    | undefined
}

const pictures = { line: LineChart, bars: BarChart, histogram: ColumnChart }
/** More rows are in the CSV: nobody reads them here. */
const MOST_ROWS = 500

export function ChartResult(props: ChartResultProps) {
  const { set, table, title, query, compared } = props
  const figure = useRef<HTMLElement>(null)
  const asked = useRowsContext(set, query.slice(query.indexOf('?')))
  useEffect(() => {
    requestOfChart.value = asked.state
    return () => {
      requestOfChart.value = null
    }
  }, [set, query])
  return (
    <>
      <ChartFigure {...props} figure={figure} title={<h2>{title}</h2>} name={title} />
      <RequestBar request={query}>
        <CopyButton text={csvOf(table)} name="Copy as CSV" label="CSV" />
        <PngButton host={() => figure.current} title={title} />
        <ToolButtons context={asked} />
      </RequestBar>
      {compared !== undefined && (
        <RequestBar name="Request of the period before" request={compared.query} />
      )}
      <ConnectRegion context={asked} />
      <Numbers {...props} />
      {table.rows.length > MOST_ROWS && (
        <p class="soft">
          The first {MOST_ROWS} of {groupDigits(table.rows.length)} rows; all of them are in the
          CSV.
        </p>
      )}
    </>
  )
}

interface ChartFigureProps extends Pick<
  ChartResultProps,
  'data' | 'onPick' | 'incomplete' | 'unit' | 'compared'
> {
  readonly figure?: RefObject<HTMLElement | null>
  readonly title: ComponentChildren
  /** For who does not see the picture. */
  readonly name: string
}

/** The picture with what has to be said of it. */
export function ChartFigure(props: ChartFigureProps) {
  const { data, figure, title, name, onPick, incomplete, unit, compared } = props
  const Picture = pictures[data.form]
  return (
    <figure ref={figure ?? null} class="chart-figure">
      <figcaption>
        {title}
        {data.series.length > 1 && <Legend labels={data.series.map(({ label }) => label)} />}
      </figcaption>
      {data.marks.length === 0 ? (
        <p class="soft">No rows.</p>
      ) : (
        <Picture
          data={data}
          sentence={sentenceOf(data, name)}
          onPick={onPick}
          incomplete={incomplete}
          before={compared?.values}
        />
      )}
      {incompleteNote(incomplete, unit)}
      {compared !== undefined && <p class="soft">The grey line is {compared.name}.</p>}
      {data.notes.map((note) => (
        <p key={note} class="soft">
          {note}
        </p>
      ))}
    </figure>
  )
}

function Numbers({ data: { format }, table, compared, rowsOf }: ChartResultProps) {
  const rows = table.rows.slice(0, MOST_ROWS).map((row, i) => ({ ...row, i }))
  return (
    <DataTable<ChartTableRow & { readonly i: number }>
      name="Numbers of the chart"
      rows={rows}
      keyOf={({ i }) => String(i)}
      columns={[
        ...table.head.map((name, column) => ({
          name,
          isNumber: column > 0,
          cell: ({ i, label, values }: ChartTableRow & { readonly i: number }) =>
            column === 0 ? (
              <RowsLink to={rowsOf(i)} label={label} />
            ) : (
              <Number value={values[column - 1] ?? null} format={format} />
            ),
        })),
        ...(compared === undefined
          ? []
          : [
              {
                name: compared.name,
                isNumber: true,
                cell: ({ i }: { readonly i: number }) => (
                  <Number value={compared.values[i] ?? null} format={format} />
                ),
              },
            ]),
      ]}
    />
  )
}

function RowsLink({ to, label }: { to: Route | undefined; label: Label }) {
  if (to === undefined) return <LabelText label={label} />
  return (
    <Link to={to}>
      <LabelText label={label} />
    </Link>
  )
}

function incompleteNote(ends: IncompleteEnds | undefined, unit = '') {
  const which = [ends?.first && 'first', ends?.last && 'last'].filter(Boolean).join(' and the ')
  if (which === '') return null
  return (
    <p class="soft">
      The {which} {unit} {which.includes(' ') ? 'are' : 'is'} incomplete.
    </p>
  )
}

function Legend({ labels }: { labels: readonly Label[] }) {
  return (
    <ul class="legend" aria-label="Colours">
      {labels.map((label, i) => (
        <li key={i}>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect class={seriesClass(i)} width={10} height={10} />
          </svg>
          <LabelText label={label} />
        </li>
      ))}
    </ul>
  )
}

function LabelText({ label: { text, isWord } }: { label: Label }) {
  return <bdi class={isWord ? 'word' : ''}>{text}</bdi>
}

interface NumberProps {
  readonly value: string | null
  readonly format: string | undefined
}

function Number({ value, format }: NumberProps) {
  if (value === null) return <span class="word">none</span>
  return <span title={groupDigits(value)}>{formatNumber(value, format)}</span>
}

function PngButton({ host, title }: { host: () => HTMLElement | null; title: string }) {
  const [said, say] = useState<string | null>(null)
  const copy = async () => {
    const element = host()
    if (element === null) return
    say((await copyPicture(element, title)) === 'copied' ? 'Copied' : 'Saved')
    setTimeout(() => say(null), 2_000)
  }
  return (
    <Button name="Copy as PNG" onClick={() => void copy()}>
      <span aria-live="polite">{said ?? 'PNG'}</span>
    </Button>
  )
}

function sentenceOf({ marks, series }: ChartData, title: string): string {
  const first = marks[0]?.text ?? ''
  const last = marks.at(-1)?.text ?? ''
  const lines = series.length > 1 ? `, ${series.length} colours` : ''
  return `${title}, ${first} to ${last}${lines}. The numbers are in the table below.`
}

const MARGIN = 18
const TITLE = 34
const FINENESS = 2

/** What a style sheet says of a drawing is not in the drawing; it is written into a copy of it. */
const STYLES =
  'fill stroke stroke-width font-size font-family font-style text-anchor opacity'.split(' ')

/** The drawn chart on paper of the page's colour, with a margin and its title, twice as fine as on the screen. */
async function pictureAsPng(host: HTMLElement, title: string): Promise<Blob> {
  const drawn = host.querySelector<SVGSVGElement>('.picture > svg')
  if (drawn === null) throw new Error('there is no picture yet')
  const { width, height } = drawn.getBoundingClientRect()
  const canvas = document.createElement('canvas')
  canvas.width = (width + 2 * MARGIN) * FINENESS
  canvas.height = (height + TITLE + MARGIN) * FINENESS
  const context = canvas.getContext('2d')!
  const { backgroundColor, color, fontFamily } = getComputedStyle(host)
  context.scale(FINENESS, FINENESS)
  context.fillStyle = backgroundColor
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.fillStyle = color
  context.font = `600 14px ${fontFamily}`
  context.fillText(title, MARGIN, 22)
  context.drawImage(await imageOf(drawn), MARGIN, TITLE, width, height)
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob === null ? reject(new Error('no PNG')) : resolve(blob))),
  )
}

async function imageOf(svg: SVGSVGElement): Promise<HTMLImageElement> {
  const copy = svg.cloneNode(true) as SVGSVGElement
  const parts = svg.querySelectorAll('*')
  for (const [i, part] of copy.querySelectorAll('*').entries()) {
    const style = getComputedStyle(parts[i]!)
    for (const name of STYLES) part.setAttribute(name, style.getPropertyValue(name))
  }
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  const text = new XMLSerializer().serializeToString(copy)
  const url = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }))
  try {
    const image = new Image()
    image.src = url
    await image.decode()
    return image
  } finally {
    URL.revokeObjectURL(url)
  }
}

/** Into the clipboard; a file where the browser has no clipboard for pictures, as over plain HTTP. */
async function copyPicture(host: HTMLElement, title: string): Promise<'copied' | 'saved'> {
  const png = await pictureAsPng(host, title)
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })])
    return 'copied'
  } catch {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(png)
    link.download = `${title.replaceAll(/[^\p{L}\p{N}]+/gu, '-')}.png`
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    return 'saved'
  }
}
