import type { CatalogFailure } from '../../../core/catalog.ts'
import { ModelLink } from '../parts/link.tsx'

interface FailuresProps {
  readonly failures: readonly CatalogFailure[]
  /** How many there were, of which the catalog has the first. */
  readonly of: number
}

/** Which models failed in a run, and why. */
export function Failures({ failures, of }: FailuresProps) {
  return (
    <ul class="failures">
      {failures.map(({ model, because }) => (
        <li key={model}>
          <span class="status-failed">✕</span> <ModelLink model={model} />:{' '}
          <span class="because">{because}</span>
        </li>
      ))}
      {of > failures.length && <li>and {of - failures.length} more</li>}
    </ul>
  )
}
