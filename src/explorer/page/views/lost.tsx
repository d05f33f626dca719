import { nearestNames } from '../model/distance.ts'
import { usePage, type ViewProps } from '../page.ts'
import { Link, SetLink } from '../parts/link.tsx'

/** An address that leads nowhere, and where it may have been meant to lead. */
export function LostView({ route }: ViewProps<'lost'>) {
  const { schema } = usePage()
  const wanted = /^\/sets\/([^/(]+)/.exec(route.path)?.[1]
  if (wanted === undefined || schema.set(wanted) !== undefined)
    return (
      <section class="lost">
        <h1 tabIndex={-1}>Nothing is here</h1>
        <p>
          <code>{route.path}</code> is no address of this page.{' '}
          <Link to={{ view: 'home' }}>All sets</Link>
        </p>
      </section>
    )
  const names = schema.sets.map(({ name }) => name)
  const meant = nearestNames(names, wanted)
  return (
    <section class="lost">
      <h1 tabIndex={-1}>
        No set is named <bdi>{wanted}</bdi>
      </h1>
      {meant.length > 0 && (
        <p>
          Did you mean{' '}
          {meant.map((name, i) => (
            <span key={name}>
              {i > 0 && ' or '}
              <SetLink set={name} />
            </span>
          ))}
          ?
        </p>
      )}
      <p>
        It may have been renamed, or your token may not read it.{' '}
        <Link to={{ view: 'home' }}>All sets</Link>
      </p>
    </section>
  )
}
