import { Link } from '../parts/link.tsx'
import type { ViewProps } from '../page.ts'

export function LostView({ route }: ViewProps<'lost'>) {
  return (
    <section class="lost">
      <h1 tabIndex={-1}>Nothing is here</h1>
      <p>
        <code>{route.path}</code> is no address of this page.{' '}
        <Link to={{ view: 'home' }}>All sets</Link>
      </p>
    </section>
  )
}
