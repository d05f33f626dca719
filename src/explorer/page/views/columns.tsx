import { Button } from '../parts/button.tsx'
import { useEffect, useRef, useState } from 'preact/hooks'
import { encodeOption, readOptions } from '../address/options.ts'
import { groupDigits, sayDuration, showTime } from '../model/show.ts'
import { usePage, type ViewProps } from '../page.ts'
import { FilterBar } from '../rows/filter-bar.tsx'
import { type RowsContext, useRowsContext } from '../rows/rows-context.ts'
import { withCondition } from '../chart/pick.ts'
import type { ServiceError } from '../service/client.ts'
import type { ComponentChildren, RefObject } from 'preact'
import {
  type EntitySet,
  kindOf,
  memberNames,
  navigationOf,
  type Property,
  shortType,
  textOf,
  type TypedColumn,
} from '../model/schema.ts'
import { Link } from '../parts/link.tsx'
import { ProblemNote } from '../parts/problem.tsx'
import { RequestBar } from '../parts/request-bar.tsx'
import { HistogramBars } from '../pictures/histogram-bars.tsx'
import {
  type Bar,
  type Counts,
  countsRequest,
  type Picture,
  pictureRequest,
  readCounts,
  SHOWN_CHARACTERS,
} from '../profile/profile-requests.ts'
import { type AnswerState, type Ask, useAnswer } from '../parts/use-answer.ts'
import '../profile/profile.css'
import '../pictures/pictures.css'

/** Above that a count takes seconds for each column, and nobody has asked for it yet. */
const MOST_ROWS_UNASKED = 20_000_000

const HEADINGS = ['Column', 'Values', 'Type', 'Nulls', 'Different', 'Least', 'Greatest', 'Mean']
const NUMBERS = new Set(['Nulls', 'Different', 'Mean'])

export function ColumnsView({ route }: ViewProps<'columns'>) {
  const page = usePage()
  const set = page.schema.set(route.set)!
  const published = page.catalog?.sets.find(({ name }) => name === set.name)
  const [isAsked, ask] = useState(false)
  const [fault, say] = useState<{ filter: string; error: ServiceError } | null>(null)
  const filter = readOptions(route.query).get('$filter') || null
  const wanted = readOptions(route.query).get('column')
  useEffect(() => {
    if (wanted === undefined) return undefined
    // After the focus has gone to the beginning of the new view.
    const frame = requestAnimationFrame(() => {
      const heading = document.getElementById(`column-${wanted}`)?.querySelector('th')
      heading?.scrollIntoView({ block: 'center' })
      heading?.focus()
    })
    return () => cancelAnimationFrame(frame)
  }, [wanted])
  const context = useRowsContext(set, route.query, 'columns')
  const isSmall = (published?.rows ?? 0) <= MOST_ROWS_UNASKED
  return (
    <>
      <FilterBar
        context={context}
        error={fault !== null && fault.filter === filter ? fault.error : undefined}
      />
      {!isSmall && (
        <p class="profile-filter">
          {groupDigits(published!.rows)} rows: to count a column takes a while.
          <Button disabled={isAsked} onClick={() => ask(true)}>
            Count all that come into view
          </Button>
        </p>
      )}
      <div class="data-table profiles" role="region" aria-label="Columns" tabIndex={0}>
        <table aria-label="Columns">
          <thead>
            <tr>
              {HEADINGS.map((heading) => (
                <th key={heading} scope="col" class={NUMBERS.has(heading) ? 'number' : ''}>
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {set.properties.map((column) => (
              <ColumnRow
                key={column.name}
                set={set}
                column={column}
                context={context}
                filter={filter}
                isCounted={isSmall || isAsked}
                isWanted={column.name === wanted}
                onFault={(error) => filter !== null && say({ filter, error })}
              />
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

interface ColumnRowProps {
  readonly set: EntitySet
  readonly column: Property
  readonly context: RowsContext
  readonly filter: string | null
  /** False: counting takes long, and waits for a click. */
  readonly isCounted: boolean
  /** Somebody has looked for it. */
  readonly isWanted: boolean
  /** The filter is wrong, which is said at the filter and not at each column. */
  readonly onFault: (error: ServiceError) => void
}

const COLUMNS = 8

function ColumnRow(props: ColumnRowProps) {
  const { set, column, context, filter } = props
  const published = usePage().catalog?.sets.find(({ name }) => name === set.name)
  const engineType = published?.columns.find(({ name }) => name === column.name)?.type
  const row = useRef<HTMLTableRowElement>(null)
  const [isAsked, ask] = useState(false)
  const [isOpen, open] = useState(false)
  const isShown = useInView(row) && (props.isCounted || isAsked)
  const profile = useProfile(set, column, filter, isShown)
  const { counts } = profile
  const fault = filter !== null && counts.state === 'failed' ? counts.error : undefined
  const isFiltersFault = fault?.status === 400
  useEffect(() => {
    if (isFiltersFault) props.onFault(fault!)
  }, [fault])
  const button = props.isCounted || isAsked ? null : () => ask(true)
  return (
    <>
      <tr ref={row} id={`column-${column.name}`} aria-current={props.isWanted}>
        <th scope="row" class="profile-name" tabIndex={props.isWanted ? -1 : undefined}>
          <bdi>{column.name}</bdi> {set.key.includes(column.name) && <span class="badge">key</span>}{' '}
          <LeadsTo set={set} column={column} />
          {column.description !== undefined && <p>{column.description}</p>}
        </th>
        <td class="profile-picture">
          <PictureOf profile={profile} column={column} context={context} />
          <Button
            class="button quiet profile-more"
            aria-expanded={isOpen}
            name={`Requests of ${column.name}`}
            title="Requests"
            onClick={() => open(!isOpen)}
          >
            ⋯
          </Button>
        </td>
        <td class="profile-type">
          {shortType(column)}
          {engineType !== undefined && <code>{engineType}</code>}
        </td>
        {counts.state === 'here' ? (
          <CountsCells column={column} counts={counts.value} />
        ) : (
          <td colSpan={5} class="profile-waiting">
            {isFiltersFault ? (
              '–'
            ) : counts.state === 'failed' ? (
              <ProblemNote {...counts} />
            ) : button === null ? (
              <span class="soft">counting…</span>
            ) : (
              <Button onClick={button}>
                Count <bdi>{column.name}</bdi>
              </Button>
            )}
          </td>
        )}
      </tr>
      {isOpen && (
        <tr class="profile-requests">
          <td colSpan={COLUMNS}>
            {profile.requests.map(({ what, request }) => (
              <RequestBar key={what} request={request} name={what} />
            ))}
          </td>
        </tr>
      )}
    </>
  )
}

function LeadsTo({ set, column }: Pick<ColumnRowProps, 'set' | 'column'>) {
  const target = navigationOf(set, column.name)?.target
  if (target === undefined) return null
  return (
    <Link to={{ view: 'columns', set: target, query: '' }} class="leads-to">
      → {target}
    </Link>
  )
}

function CountsCells({ column, counts }: { column: Property; counts: Counts }) {
  const { rows, filled, different, least, greatest, mean } = counts
  const nulls = rows === 0 ? null : ((rows - filled) / rows) * 100
  return (
    <>
      <td class="number" title={`${rows - filled} of ${rows} rows`}>
        {nulls === null ? '–' : showShare(nulls)}
      </td>
      <td class="number">{different === null ? '–' : groupDigits(different)}</td>
      <td class="end">
        <End column={column} value={least} />
      </td>
      <td class="end">
        <End column={column} value={greatest} />
      </td>
      <td class="number" title={mean === null ? undefined : textOf(mean)}>
        {mean === null ? '' : showMean(withoutZeros(textOf(mean)))}
      </td>
    </>
  )
}

function End({ column, value }: { column: Property; value: unknown }): ComponentChildren {
  if (value === null) return ''
  if (value === '') return <span class="word">empty text</span>
  const text = textOf(value)
  switch (kindOf(column)) {
    case 'number':
      return <span class="digits">{groupDigits(text)}</span>
    case 'time':
      // A date does not break at its hyphens, only before the time of day.
      return showTime(text)
        .split(' ')
        .map((part) => (
          <span key={part} class="digits">
            {part}{' '}
          </span>
        ))
    case 'duration':
      return <span title={text}>{sayDuration(text)}</span>
    case 'list':
      return `${text} ${text === '1' ? 'item' : 'items'}`
    default:
      return <bdi>{text.length >= SHOWN_CHARACTERS ? `${text}…` : text}</bdi>
  }
}

interface PictureOfProps extends Pick<ColumnRowProps, 'column' | 'context'> {
  readonly profile: ReturnType<typeof useProfile>
}

/** A click on a bar, or a stroke from one to another, is a condition of the filter. */
function PictureOf({ profile, column, context }: PictureOfProps) {
  const { picture, counts, shows } = profile
  if (counts.state !== 'here' || shows === null) return null
  if (shows.shows === 'nothing') return <span class="soft">{shows.why}</span>
  if (picture.state === 'failed') return <ProblemNote {...picture} />
  if (picture.state === 'waiting') return <span class="picture-waiting" />
  const { form, bars, sentence, between } = picture.value
  const onPick = (first: number, last: number) => {
    const condition = between?.(first, last, context.typeOf)
    if (condition) context.filter(withCondition(context.conditions, column.name, condition))
  }
  if (form === 'columns')
    return <HistogramBars bars={bars} sentence={sentence} onPick={between && onPick} />
  const { rows } = counts.value
  return <FrequentValues bars={bars} sentence={sentence} rows={rows} onPick={onPick} />
}

function showShare(percent: number): string {
  if (percent === 0 || percent === 100) return `${percent} %`
  if (percent < 0.1) return '< 0.1 %'
  if (percent > 99.9) return '> 99.9 %'
  return `${percent.toFixed(1)} %`
}

/** 12.500 is 12.5: a mean of decimals comes with ten digits more than they have. */
const withoutZeros = (text: string) => text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')

/** A mean has as many digits as there is room for in a number, and few people want them; the rest is in the tooltip. */
function showMean(text: string): string {
  if (text.length <= MEAN_CHARACTERS || !/^-?\d+\.\d+$/.test(text)) return groupDigits(text)
  const [whole = ''] = text.split('.')
  const digits = Math.max(0, Math.min(4, MEAN_CHARACTERS - 1 - whole.length))
  return `≈ ${groupDigits(Number(text).toFixed(digits))}`
}

const MEAN_CHARACTERS = 8

/** Begins a little before an element comes into view, so that most of it is there by then. */
const MARGIN = '160px'

function useInView(element: RefObject<Element | null>): boolean {
  const [isInView, setInView] = useState(false)
  useEffect(() => {
    if (element.current === null) return undefined
    const observer = new IntersectionObserver(
      (entries) => setInView(entries.at(-1)?.isIntersecting ?? false),
      { rootMargin: MARGIN },
    )
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return isInView
}

interface FrequentValuesProps {
  readonly bars: readonly Bar[]
  readonly sentence: string
  /** All rows, of which the bars are parts. */
  readonly rows: number
  readonly onPick: (first: number, last: number) => void
}

function FrequentValues({ bars, sentence, rows, onPick }: FrequentValuesProps) {
  const most = Math.max(1, ...bars.map((bar) => bar.rows))
  const share = (count: number) => ((count / Math.max(1, rows)) * 100).toFixed(1)
  return (
    <div class="frequent" role="img" aria-label={sentence}>
      {bars.map((bar, i) => (
        <div
          key={`${bar.isWord} ${bar.text}`}
          class="frequent-bar picture-pick"
          onClick={() => onPick(i, i)}
          title={`${bar.text}: ${bar.rows} rows, ${share(bar.rows)} %`}
        >
          <bdi class={bar.isWord ? 'frequent-label word' : 'frequent-label'}>{bar.text}</bdi>
          <svg viewBox="0 0 100 10" preserveAspectRatio="none">
            <rect width={Math.max(0.8, (bar.rows / most) * 100)} height={10} />
          </svg>
          <span class="frequent-rows">{groupDigits(bar.rows)}</span>
        </div>
      ))}
    </div>
  )
}

// The profile of a column as a component has it: asked for when the column comes into view, given up when it leaves
// before the answer, kept once it is there.

function useProfile(set: EntitySet, column: TypedColumn, filter: string | null, isWanted: boolean) {
  const context = { names: memberNames(set), filter }
  const requestOf = (apply: string) =>
    `${encodeURIComponent(set.name)}?$apply=${encodeOption(apply)}`
  const countsOf = requestOf(countsRequest(column, context))
  const askCounts: Ask<Counts> = async (service, request, options) =>
    readCounts((await service.rows(request, options)).value)
  const counts = useAnswerWhile(isWanted, countsOf, askCounts, 'last')

  const shows = counts.state === 'here' ? pictureRequest(column, counts.value, context) : null
  const pictureOf = shows === null || shows.shows === 'nothing' ? null : requestOf(shows.apply)
  const askPicture: Ask<Picture> = async (service, request, options) => {
    const { value } = await service.rows(request, options)
    if (shows === null || shows.shows === 'nothing') throw new Error('there is no picture')
    return shows.read(value)
  }
  // One column after the other is done, instead of all pictures after all counts.
  const picture = useAnswerWhile(isWanted, pictureOf, askPicture, 'next')

  return {
    counts,
    picture,
    shows,
    requests: [
      { what: `Counts of ${column.name}`, request: countsOf },
      ...(pictureOf === null ? [] : [{ what: `Picture of ${column.name}`, request: pictureOf }]),
    ],
  }
}

function useAnswerWhile<T>(
  isWanted: boolean,
  request: string | null,
  ask: Ask<T>,
  turn: 'last' | 'next',
): AnswerState<T> {
  const [keptFor, keep] = useState<string | null>(null)
  const isKept = keptFor !== null && keptFor === request
  const answer = useAnswer(isWanted || isKept ? request : null, ask, turn)
  if (answer.state !== 'waiting' && !isKept) keep(request)
  return answer
}
