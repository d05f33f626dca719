import { useListener } from '../parts/use-value.ts'
import { Button } from '../parts/button.tsx'
import { keyOf } from '../address/key.ts'
import { CopyButton } from '../parts/request-bar.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Link } from '../parts/link.tsx'
import { type Property, type Row, textOf, type Value } from '../model/schema.ts'
import { ProblemNote } from '../parts/problem.tsx'
import { askObject, useAnswer } from '../parts/use-answer.ts'
import { byteLength, shownCell, columnValue, type RowColumn, targetOf } from './columns.ts'
import { isPart, rowRequest } from './requests.ts'
import type { RowsContext } from './rows-context.ts'
import { conditionOf } from './table-actions.ts'
import { useEffect, useRef, useState } from 'preact/hooks'
import { groupDigits, localTime, sayDuration, showBytes, unfoldJson } from '../model/show.ts'
import { usePage } from '../page.ts'

interface ValueDialogProps {
  readonly context: RowsContext
  readonly column: RowColumn
  readonly row: Row
  /** The row may have only a part of the value. */
  readonly isShort: boolean
  readonly onClose: () => void
}

export function ValueDialog(props: ValueDialogProps) {
  const { context, column, row, onClose } = props
  const { answer, value, isCut } = useWholeValue(props)
  const target = targetOf(context.set, column, row, value)
  const { property } = column
  const isFilter = !isCut && property !== undefined && !property.isList
  const wanted = isFilter ? conditionOf(column.name, value, true) : undefined
  const unwanted = isFilter ? conditionOf(column.name, value, false) : undefined
  const filter = (condition: typeof wanted) => {
    if (condition === undefined) return
    context.filter([...context.conditions, condition])
    onClose()
  }
  return (
    <Dialog title={column.name} place="side" onClose={onClose}>
      {property?.description !== undefined && <p class="about">{property.description}</p>}
      {answer?.state === 'failed' && <ProblemNote {...answer} />}
      {isCut && (
        <p class="about">
          {answer === undefined
            ? 'This is its beginning. A set without a key cannot be asked for one value.'
            : 'The whole value is coming …'}
        </p>
      )}
      {(!isCut || value !== null) && <WholeValue value={value} edm={property?.edm} />}
      <p class="actions">
        {!isCut && <CopyButton text={textOf(value)} name="Copy the value" />}
        {wanted !== undefined && <Button onClick={() => filter(wanted)}>filter by this</Button>}
        {unwanted !== undefined && <Button onClick={() => filter(unwanted)}>leave this out</Button>}
      </p>
      {target !== undefined && (
        <section class="leads-to">
          <h3>
            <Link to={target}>
              {target.set}({target.key})
            </Link>
          </h3>
          {target.set !== context.set.name && <Peek set={target.set} keyText={target.key} />}
        </section>
      )}
    </Dialog>
  )
}

/** What the row has, or, where that is only a part, what the service answers for this value alone. */
function useWholeValue({ context, column, row, isShort }: ValueDialogProps) {
  const { set } = context
  const { name, property } = column
  const here = columnValue(row, name)
  const isCut = isShort && isPart(property, here)
  const key = isCut ? keyOf(set, row) : undefined
  const request = key === undefined ? null : rowRequest(set.name, key, new Map([['$select', name]]))
  const answer = useAnswer(request, askObject)
  if (answer.state === 'here') return { answer, value: answer.value[name] ?? null, isCut: false }
  return { answer: request === null ? undefined : answer, value: here ?? null, isCut }
}

const FIRST_CHARACTERS = 10_000

export function WholeValue({ value, edm }: { value: Value; edm: string | undefined }) {
  const [isWhole, setIsWhole] = useState(false)
  if (value === null || value === '' || typeof value === 'object') return <Tree value={value} />
  const text = String(value)
  if (edm === 'Edm.Binary')
    return <p>{showBytes(byteLength(text))} of bytes, in base64url when copied</p>
  const local = edm === 'Edm.DateTimeOffset' ? localTime(text) : undefined
  const isCut = !isWhole && text.length > FIRST_CHARACTERS
  const unfolded = edm === 'Edm.String' ? unfoldJson(text) : undefined
  if (unfolded !== undefined && unfolded.length <= FIRST_CHARACTERS)
    return (
      <pre class="whole-value" dir="auto" tabIndex={0}>
        {unfolded}
      </pre>
    )
  return (
    <>
      <pre class="whole-value" dir="auto" tabIndex={0}>
        {isCut ? text.slice(0, FIRST_CHARACTERS) : text}
      </pre>
      {local !== undefined && <p class="about">{local} here</p>}
      {edm === 'Edm.Duration' && <p class="about">{sayDuration(text)}</p>}
      {isCut && (
        <Button onClick={() => setIsWhole(true)}>
          load all ({groupDigits(text.length)} characters)
        </Button>
      )}
    </>
  )
}

const MOST_ITEMS = 100

function Tree({ value, depth = 0 }: { value: Value; depth?: number }) {
  if (value === null) return <span class="value-null">null</span>
  if (value === '') return <span class="value-empty">empty text</span>
  if (typeof value !== 'object') return <bdi class="tree-text">{String(value)}</bdi>
  const entries = Array.isArray(value)
    ? value.map((item, i) => [String(i), item as Value] as const)
    : Object.entries(value as Readonly<Record<string, Value>>).filter(
        ([name]) => !name.includes('@'),
      )
  if (entries.length === 0) return <span class="value-empty">empty</span>
  return (
    <details class="tree" open={depth < 2}>
      <summary>
        {Array.isArray(value) ? `${entries.length} items` : `${entries.length} fields`}
      </summary>
      <dl>
        {entries.slice(0, MOST_ITEMS).map(([name, item]) => (
          <div key={name}>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <Tree value={item} depth={depth + 1} />
            </dd>
          </div>
        ))}
      </dl>
      {entries.length > MOST_ITEMS && <p>and {entries.length - MOST_ITEMS} more</p>}
    </details>
  )
}

const MOST_PROPERTIES = 8

function Peek({ set, keyText }: { set: string; keyText: string }) {
  const page = usePage()
  const target = page.schema.set(set)
  const properties = (target?.properties ?? [])
    .filter(({ fields, isList }) => fields === undefined && !isList)
    .slice(0, MOST_PROPERTIES)
  const names = properties.map(({ name }) => name)
  const request = rowRequest(set, keyText, new Map([['$select', names.join(',')]]))
  const answer = useAnswer(request, askObject)
  if (answer.state === 'waiting') return <p class="about">…</p>
  if (answer.state === 'failed') {
    if (answer.error.status === 404) return <p class="about">There is no such row in {set}.</p>
    return <ProblemNote {...answer} />
  }
  return (
    <div title={page.service.url(request)}>
      <PropertyList properties={properties} row={answer.value} />
    </div>
  )
}

interface PropertyListProps {
  readonly properties: readonly Property[]
  readonly row: Row
}

export function PropertyList({ properties, row }: PropertyListProps) {
  return (
    <dl class="properties">
      {properties.map((property) => {
        const { text, kind, title } = shownCell(row[property.name], property)
        return (
          <div key={property.name}>
            <dt>{property.name}</dt>
            <dd>
              <bdi class={`value-${kind}`} title={title}>
                {text}
              </bdi>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

interface Peeked {
  readonly set: string
  readonly key: string
  readonly leftPx: number
  readonly topPx: number
}

const REST_MS = 450
/** So long it may take from the link to what is shown. */
const LEAVE_MS = 250
const WIDTH_PX = 340

/** The row that a link leads to, while a pointer rests on it. Escape puts it away; the dialog of the cell has it too. */
export function HoverPeek({ within }: { within: string }) {
  const [peeked, setPeeked] = useState<Peeked | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const later = (next: Peeked | null, ms: number) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setPeeked(next), ms)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  useListener('pointerover', ({ target }) => {
    if (!(target instanceof Element)) return
    const link = target.closest<HTMLElement>(`${within} a[data-peek-set]`)
    if (link !== null) later(peekedAt(link), REST_MS)
    else if (target.closest('.hover-peek') !== null) clearTimeout(timer.current)
    else later(null, LEAVE_MS)
  })
  useListener('keydown', ({ key }) => key === 'Escape' && later(null, 0))
  useListener('scroll', () => later(null, 0), true)
  if (peeked === null) return null
  const { set, key, leftPx, topPx } = peeked
  return (
    <div
      class="hover-peek"
      role="tooltip"
      style={{ left: `${leftPx}px`, top: `${topPx}px`, width: `${WIDTH_PX}px` }}
    >
      <p class="about">
        {set}({key})
      </p>
      <Peek set={set} keyText={key} />
    </div>
  )
}

function peekedAt(link: HTMLElement): Peeked {
  const { left, bottom, top } = link.getBoundingClientRect()
  const isLow = bottom > innerHeight * 0.6
  return {
    set: link.dataset['peekSet'] ?? '',
    key: link.dataset['peekKey'] ?? '',
    leftPx: Math.max(8, Math.min(left, innerWidth - WIDTH_PX - 8)),
    topPx: isLow ? Math.max(8, top - 300) : bottom + 6,
  }
}
