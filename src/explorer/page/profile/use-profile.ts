// The profile of a column as a component has it: asked for when the column comes into view, given up when it leaves
// before the answer, kept once it is there.

import { useState } from 'preact/hooks'
import { encodeOption } from '../address/encode.ts'
import type { NamedRequest } from '../parts/request-bar.tsx'
import { type AnswerState, type Ask, useAnswer } from '../parts/use-answer.ts'
import type { TypedColumn } from '../model/columns.ts'
import {
  type Counts,
  countsRequest,
  finiteRequest,
  needsFinite,
  type PictureRequest,
  pictureRequest,
  type ProfileContext,
  readCounts,
  type Picture,
} from './profile-requests.ts'

export interface Profile {
  readonly counts: AnswerState<Counts>
  readonly picture: AnswerState<Picture>
  /** What is asked for, once it is known. */
  readonly shows: PictureRequest | null
  /** Relative to the root of the service. */
  readonly requests: readonly NamedRequest[]
}

export function useProfile(
  set: string,
  column: TypedColumn,
  context: ProfileContext,
  isWanted: boolean,
): Profile {
  const requestOf = (apply: string) => `${encodeURIComponent(set)}?$apply=${encodeOption(apply)}`
  const countsOf = requestOf(countsRequest(column, context))
  const finiteOf = requestOf(finiteRequest(column, context))
  const askCounts: Ask<Counts> = async (service, request, options) => {
    const counts = readCounts((await service.rows(request, options)).value[0] ?? {})
    if (!needsFinite(column, counts)) return counts
    const finite = (await service.rows(finiteOf, options)).value[0] ?? {}
    const { least, greatest, mean } = readCounts(finite)
    return { ...counts, least, greatest, mean }
  }
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

  const isPartly = counts.state === 'here' && needsFinite(column, counts.value)
  return {
    counts,
    picture,
    shows,
    requests: [
      { what: `Counts of ${column.name}`, request: countsOf },
      ...(isPartly ? [{ what: `Finite values of ${column.name}`, request: finiteOf }] : []),
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
