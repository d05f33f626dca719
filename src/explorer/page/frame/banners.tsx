import { useRef } from 'preact/hooks'
import { Banner } from '../parts/problem.tsx'
import { useValue } from '../parts/use-value.ts'
import { usePage } from '../page.ts'

/** What matters to all that is shown: newer data, older data than there should be, nobody there. */
export function Banners() {
  const page = usePage()
  const health = useValue(page.health)
  // What the page came with, however often a newer one is heard of since.
  const shown = useRef(page.catalog?.snapshot ?? null)
  shown.current ??= health?.snapshot ?? null
  if (health === null) return null
  if (health.status === 'gone') {
    return (
      <Banner tone="bad">The server does not answer. The page tries again every 5 seconds.</Banner>
    )
  }
  if (health.status === 'failed') {
    return (
      <Banner tone="bad">
        The service has no data that it can open. <code>eider doctor</code> says what to do.
      </Banner>
    )
  }
  return (
    <>
      {health.status === 'stale' && (
        <Banner tone="warning">
          The newest snapshot cannot be opened, so the one before it is served.{' '}
          <code>eider doctor</code> says what to do.
        </Banner>
      )}
      {shown.current !== null && health.snapshot !== null && health.snapshot !== shown.current && (
        <Banner tone="news">
          There are new data.{' '}
          <button type="button" class="button" onClick={() => location.reload()}>
            new data, reload
          </button>
        </Banner>
      )}
    </>
  )
}
