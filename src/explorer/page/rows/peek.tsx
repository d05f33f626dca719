import { cellText } from './cell-text.ts'
import type { EntitySet } from '../model/schema.ts'
import { Problem } from '../parts/problem.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import type { Page } from '../page.ts'
import { rowRequest } from './requests.ts'

const MOST_PROPERTIES = 8

/** A row of another set without going there: its first properties. */
export function Peek({ page, set, keyText }: { page: Page; set: string; keyText: string }) {
  const target = page.schema.set(set)
  const names = target === undefined ? [] : peekedProperties(target)
  const request = rowRequest(set, keyText, new Map([['$select', names.join(',')]]))
  const answer = useAnswer(page, request, (of, options) => page.service.object(of, options))
  if (answer.state === 'waiting') return <p class="about">…</p>
  if (answer.state === 'failed') {
    if (answer.error.status === 404) return <p class="about">There is no such row in {set}.</p>
    return <Problem error={answer.error} again={answer.again} />
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
