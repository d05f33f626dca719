// Who is affected by a change of a model: all sets that come from it, directly or by way of others, with what is promised
// of each, the tokens that read it and the boards that show it.

import { useEffect, useState } from 'preact/hooks'
import { type Page, usePage } from '../page.ts'
import { SetLink } from '../parts/link.tsx'
import { ShortList } from '../parts/short-list.tsx'
import { useValue } from '../parts/use-value.ts'
import { type LineageGraph, type LineageNode, downstream } from './graph.ts'

interface WhoBreaksProps {
  readonly graph: LineageGraph
  readonly node: LineageNode
}

export function WhoBreaks({ graph, node }: WhoBreaksProps) {
  const page = usePage()
  const readers = useReaders(page)
  const boards = useValue(page.boards) ?? []
  const after = downstream(graph, node.id)
  const sets = after.filter(({ kind }) => kind === 'set')
  const models = after.length - sets.length
  if (after.length === 0) return null
  return (
    <>
      <h3>Who breaks if this changes</h3>
      <p class="soft">
        {[counted(models, 'model'), counted(sets.length, 'set')].filter(Boolean).join(' and ')}
        {node.kind === 'set' ? '' : ' after it'}
      </p>
      <ShortList
        items={sets.map(({ name, model }) => {
          const tokens = readers[name] ?? []
          const shown = boards.filter(({ charts }) => charts.some(({ set }) => set === name))
          return (
            <li key={name} class="who-breaks">
              <SetLink set={name} /> {isPromised(model) && <strong>promised by @contract</strong>}
              {page.catalog?.is_whole === true && !isPromised(model) && 'no contract'}
              {tokens.length > 0 && (
                <>
                  {' · read by '}
                  <bdi>{listed(tokens)}</bdi>
                </>
              )}
              {shown.length > 0 && (
                <>
                  {' · on '}
                  <bdi>{listed(shown.map(({ title }) => title))}</bdi>
                </>
              )}
            </li>
          )
        })}
      />
    </>
  )
}

const isPromised = (model: LineageNode['model']) => model?.contract === true

const counted = (count: number, word: string) =>
  count === 0 ? '' : `${count} ${word}${count === 1 ? '' : 's'}`

const MOST_NAMES = 5

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMES
  return names.slice(0, MOST_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** Tokens with names by set, as far as they are told. */
function useReaders({ readers }: Page): Readonly<Record<string, readonly string[]>> {
  const [known, setKnown] = useState<Readonly<Record<string, readonly string[]>>>({})
  useEffect(() => {
    let isLeft = false
    void readers().then((found) => {
      if (!isLeft) setKnown(found)
    })
    return () => {
      isLeft = true
    }
  }, [readers])
  return known
}
