// The first rows of a set as HTML, for a browser that has not read the script yet or runs none: the same elements and the
// same style as those of the page's own view of rows, so that nothing moves when the script takes over.

import { element, html, type Html } from './html.ts'
import { readFilter } from '../page/address/filter.ts'
import { readSelect } from '../page/address/order.ts'
import { writeRoute, type Route } from '../page/address/route.ts'
import { typeOfPath, type EntitySet, type Schema } from '../page/model/schema.ts'
import { groupDigits } from '../page/model/show.ts'
import type { Row } from '../page/model/value.ts'
import { cellContent, type CellElements } from '../page/rows/cell.ts'
import { tableColumns, defaultWidthPx, type RowColumn } from '../page/rows/columns.ts'
import { describeTest } from '../page/rows/operators.ts'
import {
  countRequest,
  fileRequest,
  isOfSet,
  rowsRequest,
  type RowsState,
} from '../page/rows/requests.ts'

interface ShownRows {
  readonly project: string
  readonly schema: Schema
  readonly set: EntitySet
  readonly state: RowsState
  readonly rows: readonly Row[]
  readonly count: string | undefined
  /** The root of the page, relative to its address, with a slash at the end. */
  readonly home: string
  /** Absolute URL of the service, with a slash at the end. */
  readonly service: string
}

/** More than most screens have room for. */
const MOST_ROWS = 40
/** A wider table is cut at the right: the script draws what is scrolled to. */
const MOST_COLUMNS = 40

export function rowsHtml(shown: ShownRows): Html {
  const { project, schema, set, state, service, home } = shown
  const url = service + rowsRequest(state)
  return html`<div class="frame" id="first-rows">
    <header class="header"><a class="project" href="${home}">${project}</a></header>
    <nav class="sets" aria-label="Sets"></nav>
    <main class="main main-rows">
      ${setHeader(shown)}
      <div class="request-bar">
        <span class="request-label" aria-hidden="true">Request</span>
        <input type="text" class="request-url" readonly aria-label="Request" value="${url}" />
        <button type="button" class="button copy" disabled><span>Copy</span></button>
        <span class="tools"
          >${['Excel', 'Power BI', 'pandas', 'curl'].map(button)}
          <a class="button" href="${home}connect">More …</a></span
        >
        <span class="files"
          >${fileLink(shown, 'CSV', 'csv')}
          ${schema.hasParquet ? fileLink(shown, 'Parquet', 'parquet') : null}</span
        >
      </div>
      <div class="rows-bar">${filterBar(shown)}${barEnd(shown)}</div>
      ${isOfSet(state) && set.key.length === 0 ? keyNote(set) : null}
      <div class="rows-and-facets">
        <div class="rows-column">
          <div class="rows-region" tabindex="0" role="region" aria-label="Rows">
            ${table(shown)}
          </div>
          <p class="foot">${foot(shown)}</p>
        </div>
        ${isOfSet(state) ? html`<aside class="facets" aria-label="Facets"></aside>` : null}
      </div>
    </main>
  </div>`
}

function setHeader({ set, home }: ShownRows): Html {
  const to = (route: Route) => home + writeRoute(route).slice(1)
  const { name, description } = set
  return html`<header class="set-header">
    <h1><bdi>${name}</bdi></h1>
    ${description === undefined ? null : html`<p class="set-description">${description}</p>`}
    <nav class="tabs" aria-label="Views of the set">
      <a href="${to({ view: 'rows', set: name, query: '' })}" aria-current="page">Rows</a>
      <a href="${to({ view: 'columns', set: name, query: '' })}">Columns</a>
      <a href="${to({ view: 'chart', set: name, query: '' })}">Chart</a>
    </nav>
  </header>`
}

const button = (name: string) =>
  html`<button type="button" class="button" disabled>${name}</button> `

function fileLink({ state, service }: ShownRows, name: string, format: 'csv' | 'parquet'): Html {
  const file = `${state.set}.${format}`
  const url = service + fileRequest(state, format)
  return html`<a class="button" href="${url}" download="${file}">${name}</a> `
}

function filterBar({ schema, set, state }: ShownRows): Html {
  const typeOf = (path: string) => typeOfPath(schema, set, path)
  const chips = readFilter(state.options.get('$filter') ?? '', typeOf).map((condition) => {
    const text = condition.kind === 'test' ? describeTest(condition) : condition.text
    return html`<span class="chip${condition.kind === 'text' ? ' chip-text' : ''}"
      ><button type="button" class="chip-edit" disabled><bdi>${text}</bdi></button
      ><button type="button" class="chip-remove" disabled>×</button></span
    >`
  })
  if (!isOfSet(state) && chips.length === 0) return html``
  return html`<div class="filter-bar">${button('+ filter')}${chips}</div>`
}

function barEnd({ set, state, service, count }: ShownRows): Html {
  const isSearched =
    isOfSet(state) && set.properties.some(({ edm, isList }) => edm === 'Edm.String' && !isList)
  const search = state.options.get('$search') ?? ''
  const shownNames = readSelect(state.options.get('$select')) ?? []
  const all = set.properties.length
  const some = shownNames.length > 0 && shownNames.length < all
  return html`<div class="rows-bar-end">
    ${
      isSearched
        ? html`<div class="row-search">
            <input
              type="search"
              class="field"
              disabled
              aria-label="Search in the rows"
              placeholder="Search in the rows"
              value="${search}"
            />
          </div>`
        : null
    }
    ${isOfSet(state) ? button(`Columns ${some ? `${shownNames.length} of ${all}` : ''}`) : null}
    <output class="count" aria-label="Count"
      >${
        count === undefined
          ? null
          : html`<a href="${service + countRequest(state)}"
              >Σ ${groupDigits(count)} ${rowsWord(count)}</a
            >`
      }</output
    >
  </div>`
}

const rowsWord = (count: string | number) => (String(count) === '1' ? 'row' : 'rows')

function keyNote({ name }: EntitySet): Html {
  return html`<p class="about">
    ${name} has no key, so its rows have no addresses. <code>-- @expose key</code> in the model
    names one.
  </p>`
}

function foot({ rows, state, service }: ShownRows): Html {
  if (rows.length === 0) return html`No rows fit.`
  const shown = Math.min(rows.length, MOST_ROWS)
  return html`The first ${shown} ${rowsWord(shown)}.
    <a href="${service + rowsRequest(state)}">All of them</a>`
}

function table(shown: ShownRows): Html {
  const { set, state, rows } = shown
  const columns = tableColumns(set, state, rows)
  const widths = columns.map((column) => defaultWidthPx(column, rows))
  const drawn = columns.slice(0, MOST_COLUMNS)
  const sum = (px: readonly number[]) => px.reduce((all, one) => all + one, 0)
  const restPx = sum(widths.slice(drawn.length))
  // Style in an attribute is against the policy of the page; a width there is not.
  return html`<table class="rows" width="${sum(widths)}" aria-label="Rows of ${set.name}">
    <colgroup>
      ${drawn.map((_, i) => html`<col width="${widths[i]!}" />`)}
      ${restPx === 0 ? null : html`<col width="${restPx}" />`}
    </colgroup>
    <thead>
      <tr>
        ${drawn.map((column) => headerCell(column))}
      </tr>
    </thead>
    <tbody>
      ${rows.slice(0, MOST_ROWS).map((row) => bodyRow(shown, drawn, row))}
    </tbody>
  </table>`
}

function headerCell({ name, isNumber, navigation }: RowColumn): Html {
  const arrow = navigation === undefined ? null : html`<span aria-hidden="true">→</span>`
  return html`<th scope="col" class="${isNumber ? 'number' : ''}">
    <div class="header-cell">
      <span class="sort"><bdi>${name}</bdi>${arrow}</span
      ><span class="menu-opener" aria-hidden="true">▾</span>
    </div>
  </th>`
}

function bodyRow({ set, home }: ShownRows, columns: readonly RowColumn[], row: Row): Html {
  const elements: CellElements<Html> = {
    // Titles are in the time of the browser, which only the script knows.
    make: (name, attributes, content) =>
      element(name, { ...attributes, title: undefined }, content),
    link: (to) => ({ href: home + writeRoute(to).slice(1) }),
  }
  const cells = columns.map((column) => {
    const content = cellContent(elements, set, column, row)
    return html`<td class="${column.isNumber ? 'number' : ''}">${content}</td>`
  })
  return html`<tr>
    ${cells}
  </tr>`
}
