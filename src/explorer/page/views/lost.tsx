import type { CatalogState } from '../../../core/catalog.ts'
import { withOptions, writeOptions } from '../address/options.ts'
import { nearestNames } from '../model/distance.ts'
import { usePage, type ViewProps } from '../page.ts'
import { Link, SetLink } from '../parts/link.tsx'

/** An address that leads nowhere, and where it may have been meant to lead. */
export function LostView({ route }: ViewProps<'lost'>) {
  const { schema, catalog } = usePage()
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
  const unbuilt = catalog?.models.find(({ set }) => set === wanted)
  if (unbuilt !== undefined)
    return <Unbuilt set={wanted} model={unbuilt.name} state={catalog!.states[unbuilt.name]} />
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

interface UnbuiltProps {
  readonly set: string
  readonly model: string
  readonly state: CatalogState | undefined
}

/** A set that is declared and that no run has published. */
function Unbuilt({ set, model, state }: UnbuiltProps) {
  const isFailed = state?.status === 'failed'
  return (
    <section class="lost">
      <h1 tabIndex={-1}>
        <bdi>{set}</bdi> is not there yet
      </h1>
      <p>
        {isFailed ? 'No build of its model has succeeded: ' : 'No run has published its model '}
        <bdi>{model}</bdi>
        {isFailed && state.because !== '' && (
          <>
            {' '}
            failed with <code>{state.because}</code>
          </>
        )}
        .
      </p>
      <p>
        Once the reason is fixed, <code>eider run {model}</code> publishes it.{' '}
        <Link to={{ view: 'lineage', query: writeOptions(withOptions(new Map(), { model })) }}>
          What it is made of
        </Link>{' '}
        · <Link to={{ view: 'home' }}>All sets</Link>
      </p>
    </section>
  )
}
