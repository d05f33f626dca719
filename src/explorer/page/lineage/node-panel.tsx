import type { ComponentChildren } from 'preact'
import type { CatalogSet, CatalogState } from '../../../core/catalog.ts'
import { withOptions, writeOptions } from '../address/options.ts'
import type { Route } from '../address/route.ts'
import { showTime } from '../model/show.ts'
import { checksOf } from '../model/trust.ts'
import { usePage } from '../page.ts'
import { useValue } from '../parts/use-value.ts'
import { ShortList } from '../parts/short-list.tsx'
import { CheckList } from '../parts/trust-line.tsx'
import { Ago, Link, SetLink } from '../parts/link.tsx'
import { BuildHistory, StatusOf } from '../runs/build-history.tsx'
import { showMs } from '../runs/run-statistics.ts'
import {
  type ColumnOf,
  type ColumnPaths,
  type LineageGraph,
  type LineageNode,
  lineageRoute,
  measuresOn,
} from './graph.ts'
import { factsOf } from './lineage-picture.tsx'
import { WhoBreaks } from './who-breaks.tsx'

interface NodePanelProps {
  readonly graph: LineageGraph
  readonly node: LineageNode
  readonly column: string | null
  readonly paths: ColumnPaths | null
}

export function NodePanel({ graph, node, column, paths }: NodePanelProps) {
  const page = usePage()
  const { model } = node
  const state = model === null ? undefined : page.catalog?.states[model.name]
  const set = page.catalog?.sets.find(({ name }) => name === model?.set)
  const nodesOf = (edges: LineageGraph['reads']) =>
    (edges.get(node.id) ?? []).map((id) => ({ node: id }))
  return (
    <section class="node-panel" aria-label={node.name}>
      <div class="node-part">
        <h2>
          <bdi>{node.name}</bdi>
        </h2>
        <p class="soft">
          {[factsOf(page, node), model?.owner, ...(model?.tags ?? [])].filter(Boolean).join(' · ')}
        </p>
        {model?.description && <p>{model.description}</p>}
        {set !== undefined && (
          <p>
            <SetLink set={set.name}>
              Rows of <bdi>{set.name}</bdi>
            </SetLink>
          </p>
        )}
        {set !== undefined && <OnBoards set={set.name} />}
        {state !== undefined && <State state={state} />}
      </div>
      <div class="node-part">
        <WhoBreaks graph={graph} node={node} />
        <NodeLinks graph={graph} title="Reads" to={nodesOf(graph.reads)} />
        <NodeLinks graph={graph} title="Is read by" to={nodesOf(graph.readBy)} />
        {page.catalog !== null && model !== null && model.checks.length > 0 && (
          <>
            <h3>Checks</h3>
            <CheckList checks={checksOf(page.catalog, model)} />
          </>
        )}
        {paths !== null && column !== null && (
          <Ways graph={graph} paths={paths} node={node} column={column} />
        )}
      </div>
      <div class="node-part">
        <Columns node={node} column={column} />
        <Measures node={node} set={set} />
      </div>
      {model?.sql && (
        <details class="node-sql">
          <summary>{model.path ?? 'SQL'}</summary>
          <pre tabIndex={0}>{model.sql}</pre>
        </details>
      )}
    </section>
  )
}

function State({ state }: { state: CatalogState }) {
  return (
    <>
      <p>
        <StatusOf status={state.status} />{' '}
        <Link to={{ view: 'run', id: state.run_id }}>
          <Ago at={state.at} title={showTime(state.at)} />
        </Link>
        {state.status === 'built' && ` in ${showMs(state.ms)}`}
        {state.because !== '' && <span class="soft"> {state.because}</span>}
      </p>
      {state.warnings.map((warning) => (
        <p key={warning} class="node-warning">
          ⚠ {warning}
        </p>
      ))}
      {state.builds.length > 1 && <BuildHistory builds={state.builds} />}
    </>
  )
}

interface NodeLinksProps {
  readonly graph: LineageGraph
  readonly title: ComponentChildren
  readonly to: readonly { readonly node: string; readonly column?: string }[]
  /** What is said where there are none; nothing unless given. */
  readonly none?: string
}

function NodeLinks({ graph, title, to, none }: NodeLinksProps) {
  if (to.length === 0 && none === undefined) return null
  return (
    <>
      <h3>{title}</h3>
      {to.length === 0 && <p class="soft">{none}</p>}
      <ShortList
        items={to.map(({ node, column }) => (
          <li key={`${node} ${column}`}>
            <NodeLink node={graph.nodes.get(node)!} column={column} />
          </li>
        ))}
      />
    </>
  )
}

interface WaysProps extends Pick<NodePanelProps, 'graph' | 'node'> {
  readonly paths: ColumnPaths
  readonly column: string
}

/** Both ends of the ways of a column: where it comes from at first, and which properties it becomes at last. */
function Ways({ graph, paths, node, column }: WaysProps) {
  const isSame = (a: ColumnOf, b: ColumnOf) => a.node === b.node && a.column === b.column
  const others = [...paths.columns]
    .flatMap(([id, names]) => names.map((name) => ({ node: id, column: name })))
    .filter((at) => !isSame(at, { node: node.id, column }))
  const sets = usePage().catalog?.sets ?? []
  const measures = measuresOn(graph, paths, { node: node.id, column }, sets)
  const name = <bdi>{column}</bdi>
  return (
    <>
      <NodeLinks
        graph={graph}
        title={<>{name} comes from</>}
        to={others.filter((at) => !paths.edges.some(({ to }) => isSame(to, at)))}
        none="no column: it is made here, or comes from outside"
      />
      {paths.unknown.length > 0 && <p class="soft">Not all of its origins are known.</p>}
      <NodeLinks
        graph={graph}
        title={<>{name} goes into</>}
        to={others.filter((at) => !paths.edges.some(({ from }) => isSame(from, at)))}
        none="nothing else"
      />
      {measures.length > 0 && <h3>Measures of {name}</h3>}
      <ShortList
        items={measures.map((measure) => (
          <li key={`${measure.node.id} ${measure.name}`}>
            <NodeLink node={measure.node} />: <bdi>{measure.name}</bdi>
          </li>
        ))}
      />
    </>
  )
}

function Columns({ node, column }: Pick<NodePanelProps, 'node' | 'column'>) {
  if (node.columns.length === 0) return null
  return (
    <>
      <h3>Columns</h3>
      <ul class="node-columns">
        {node.columns.map(({ name, type, description }) => (
          <li key={name}>
            <Link to={lineageRoute(node, name)} current={name === column}>
              <bdi>{name}</bdi>
            </Link>{' '}
            <code class="soft">{type}</code>
            {description !== undefined && <p class="soft">{description}</p>}
          </li>
        ))}
      </ul>
    </>
  )
}

/** As the page proposes it for that measure. */
function chartOf({ name, meaning }: CatalogSet, measure: string): Route {
  const x = meaning?.time ?? meaning?.dimensions[0]
  const options = withOptions(new Map(), { x, y: measure, method: 'measure' })
  return { view: 'chart', set: name, query: writeOptions(options) }
}

function OnBoards({ set }: { readonly set: string }) {
  const boards = useValue(usePage().boards) ?? []
  const own = boards.filter(({ charts }) => charts.some((chart) => chart.set === set))
  if (own.length === 0) return null
  return (
    <p>
      On {own.length === 1 ? 'the board' : 'the boards'}{' '}
      {own.map(({ name, title }, i) => (
        <span key={name}>
          {i > 0 && ', '}
          <Link to={{ view: 'board', name }}>
            <bdi>{title}</bdi>
          </Link>
        </span>
      ))}
    </p>
  )
}

interface MeasuresProps {
  readonly node: LineageNode
  readonly set: CatalogSet | undefined
}

/** Those of the file, where it is known. A chart is that of what is published. */
function Measures({ node, set }: MeasuresProps) {
  const { measures = [] } = node.model?.meaning ?? set?.meaning ?? {}
  if (measures.length === 0) return null
  const isPublished = (measure: string) =>
    set?.meaning?.measures.some(({ name }) => name === measure) === true
  return (
    <>
      <h3>Measures</h3>
      <ul class="node-columns">
        {measures.map(({ name, label, unit, text, description, columns }) => (
          <li key={name}>
            {isPublished(name) ? (
              <Link to={chartOf(set!, name)}>
                <bdi>{label ?? name}</bdi>
              </Link>
            ) : (
              <bdi>{label ?? name}</bdi>
            )}{' '}
            <code class="soft">{text}</code> {unit !== undefined && <span>{unit}</span>}
            {columns.length > 0 && (
              <p class="soft">
                of{' '}
                {columns.map((column, i) => (
                  <span key={column}>
                    {i > 0 && ', '}
                    <Link to={lineageRoute(node, column)}>
                      <bdi>{column}</bdi>
                    </Link>
                  </span>
                ))}
              </p>
            )}
            {description !== undefined && <p class="soft">{description}</p>}
          </li>
        ))}
      </ul>
    </>
  )
}

interface LineageListProps {
  readonly graph: LineageGraph
  readonly chosen: LineageNode | null
}

const parts: readonly (readonly [string, (node: LineageNode) => boolean])[] = [
  ['Sources, events and seeds', ({ kind }) => ['source', 'events', 'seed'].includes(kind)],
  ['Models', ({ kind }) => !['source', 'events', 'seed', 'set'].includes(kind)],
  ['Sets', ({ kind }) => kind === 'set'],
]

export function LineageList({ graph, chosen }: LineageListProps) {
  const { nodes, reads } = graph
  return (
    <details class="lineage-list">
      <summary>As a list</summary>
      <ul>
        {parts.map(([title, isPart]) => {
          const own = [...nodes.values()].filter(isPart)
          if (own.length === 0) return null
          return (
            <li key={title}>
              {title}
              <ul>
                {own.map((node) => (
                  <li key={node.id}>
                    <NodeLink node={node} isCurrent={node.id === chosen?.id} />
                    {reads.get(node.id)!.map((id, i) => (
                      <span key={id} class="lineage-reads">
                        {i === 0 ? ' reads ' : ', '}
                        <NodeLink node={nodes.get(id)!} />
                      </span>
                    ))}
                  </li>
                ))}
              </ul>
            </li>
          )
        })}
      </ul>
    </details>
  )
}

function NodeLink({
  node,
  column,
  isCurrent = false,
}: {
  node: LineageNode
  column?: string | undefined
  isCurrent?: boolean
}) {
  return (
    <Link to={lineageRoute(node, column)} current={isCurrent}>
      <bdi>{column === undefined ? node.name : `${node.name}.${column}`}</bdi>
    </Link>
  )
}
