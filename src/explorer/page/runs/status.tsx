import type { CatalogState } from '../../../core/catalog.ts'

const signs: Readonly<Record<CatalogState['status'], string>> = {
  built: '●',
  unchanged: '○',
  failed: '✕',
  skipped: '–',
}

/** A word with a sign; colour is never the only one. */
export function StatusOf({ status }: { status: CatalogState['status'] }) {
  return (
    <span class={`status status-${status}`}>
      <span aria-hidden="true">{signs[status]}</span> {status}
    </span>
  )
}
