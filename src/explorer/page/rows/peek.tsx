import { useEffect, useRef, useState } from 'preact/hooks'
import { cellText } from './cell.ts'
import type { EntitySet } from '../model/schema.ts'
import { ProblemNote } from '../parts/problem.tsx'
import { askObject, useAnswer } from '../parts/use-answer.ts'
import { usePage } from '../page.ts'
import { rowRequest } from './requests.ts'

const MOST_PROPERTIES = 8

/** A row of another set without going there: its first properties. */
export function Peek({ set, keyText }: { set: string; keyText: string }) {
  const page = usePage()
  const target = page.schema.set(set)
  const names = target === undefined ? [] : peekedProperties(target)
  const request = rowRequest(set, keyText, new Map([['$select', names.join(',')]]))
  const answer = useAnswer(request, askObject)
  if (answer.state === 'waiting') return <p class="about">…</p>
  if (answer.state === 'failed') {
    if (answer.error.status === 404) return <p class="about">There is no such row in {set}.</p>
    return <ProblemNote error={answer.error} again={answer.again} />
  }
  return (
    <dl class="properties" title={page.service.url(request)}>
      {names.map((name) => {
        const property = target?.properties.find((one) => one.name === name)
        const { text, kind } = cellText(answer.value[name], property)
        return (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi class={`value-${kind}`}>{text}</bdi>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

function peekedProperties(set: EntitySet): readonly string[] {
  const plain = set.properties.filter(({ fields, isList }) => fields === undefined && !isList)
  return plain.slice(0, MOST_PROPERTIES).map(({ name }) => name)
}

interface Peeked {
  readonly set: string
  readonly key: string
  readonly leftPx: number
  readonly topPx: number
}

/** So long a pointer rests on a link before its row is asked for. */
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
  useEffect(() => {
    const over = ({ target }: Event) => {
      if (!(target instanceof Element)) return
      const link = target.closest<HTMLElement>(`${within} a[data-peek-set]`)
      if (link !== null) later(peekedAt(link), REST_MS)
      else if (target.closest('.hover-peek') !== null) clearTimeout(timer.current)
      else later(null, LEAVE_MS)
    }
    const away = (event: Event) => {
      if (event instanceof KeyboardEvent && event.key !== 'Escape') return
      later(null, 0)
    }
    document.addEventListener('pointerover', over)
    document.addEventListener('keydown', away)
    document.addEventListener('scroll', away, true)
    return () => {
      clearTimeout(timer.current)
      document.removeEventListener('pointerover', over)
      document.removeEventListener('keydown', away)
      document.removeEventListener('scroll', away, true)
    }
  }, [])
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
