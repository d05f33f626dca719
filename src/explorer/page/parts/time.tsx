import { ago, localTime, showTime } from '../model/show.ts'

/** How long ago; the time itself for a pointer. */
export function Ago({ at, title = localTime(at) }: { at: string; title?: string | undefined }) {
  return (
    <time dateTime={at} title={title}>
      {ago(Date.parse(at), Date.now())}
    </time>
  )
}

/** A time in UTC to the second; that of the browser for a pointer. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={localTime(at)}>
      {showTime(at).replace(/\.\d+Z$/, 'Z')}
    </time>
  )
}
