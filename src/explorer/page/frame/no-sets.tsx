import { useValue } from '../parts/use-value.ts'
import type { Page } from '../page.ts'

/** Before anything is there to be seen. */
export function NoSets({ page }: { page: Page }) {
  const isEmpty = useValue(page.health)?.snapshot === null
  return (
    <main class="no-sets" id="main">
      <h1>{page.catalog?.project ?? 'eider'}</h1>
      {isEmpty ? (
        <p>
          Nothing is published yet: run <code>eider run</code> first.
        </p>
      ) : (
        <p>
          No model is exposed. Put <code>-- @expose</code> with the name of its key at the head of a
          model, and run <code>eider run</code>.
        </p>
      )}
    </main>
  )
}
