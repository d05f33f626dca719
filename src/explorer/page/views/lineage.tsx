import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { lineageQuery, readLineageAddress } from '../lineage/address.ts'
import { columnPaths } from '../lineage/column-paths.ts'
import {
  type LineageGraph,
  lineageGraph,
  MOST_NODES,
  related,
  shownNodes,
} from '../lineage/graph.ts'
import { type Layout, layoutOf } from '../lineage/layout.ts'
import { LineageList } from '../lineage/lineage-list.tsx'
import { factsOf, LineagePicture } from '../lineage/lineage-picture.tsx'
import { NodePanel } from '../lineage/node-panel.tsx'
import type { Page, ViewProps } from '../page.ts'
import '../lineage/lineage.css'

export function LineageView({ page, route }: ViewProps<'lineage'>) {
  const { catalog } = page
  const graph = useMemo(() => (catalog === null ? null : lineageGraph(catalog)), [catalog])
  if (graph === null || graph.nodes.size === 0)
    return (
      <section>
        <h1 tabIndex={-1}>Lineage</h1>
        <p>Nothing is known of the models yet. The next run publishes it with the data.</p>
      </section>
    )
  return <Lineage page={page} route={route} graph={graph} />
}

function Lineage({ page, route, graph }: ViewProps<'lineage'> & { graph: LineageGraph }) {
  const { chosen, column, opened } = readLineageAddress(route.query, graph)
  const paths = useMemo(
    () =>
      chosen === null || column === null ? null : columnPaths(graph, { node: chosen.id, column }),
    [graph, chosen, column],
  )
  const shown = useMemo(() => {
    const { ids, hidden } = shownNodes(graph, chosen?.id ?? null, opened)
    // All of a way is worth seeing, however long it is.
    return { hidden, ids: new Set([...ids, ...(paths?.columns.keys() ?? [])]) }
  }, [graph, chosen, paths, [...opened].join()])
  const lit = useMemo(() => {
    if (paths !== null) return new Set(paths.columns.keys())
    return chosen === null ? null : related(graph, chosen.id)
  }, [graph, chosen, paths])
  const layout = useLayout(page, graph, shown.ids, paths)
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => showChosen(place.current), [layout, chosen])
  return (
    <>
      <header class="lineage-head">
        <h1 tabIndex={-1}>Lineage</h1>
        <Find page={page} route={route} graph={graph} />
      </header>
      {chosen === null && (
        <p class="soft">
          From sources and events at the left to the sets at the right. Choose a model to see what
          it is made of
          {graph.nodes.size > MOST_NODES &&
            '; this is the part around the one with the most connections'}
          .
        </p>
      )}
      <div class="lineage">
        <div
          ref={place}
          class="lineage-graph"
          role="region"
          aria-label="Graph of models"
          tabIndex={0}
          aria-busy={layout === null}
        >
          {layout !== null && (
            <LineagePicture
              page={page}
              layout={layout}
              chosen={chosen}
              column={column}
              opened={opened}
              lit={lit}
              paths={paths}
              hidden={shown.hidden}
            />
          )}
        </div>
        {chosen !== null && (
          <NodePanel page={page} graph={graph} node={chosen} column={column} paths={paths} />
        )}
      </div>
      <LineageList page={page} graph={graph} chosen={chosen} />
    </>
  )
}

/** Where there is no room for all of the graph, the chosen node is in the middle. */
function showChosen(place: HTMLElement | null): void {
  const node = place?.querySelector('.node.chosen')?.getBoundingClientRect()
  if (place === null || node === undefined) return
  const { left } = place.getBoundingClientRect()
  place.scrollLeft += node.left - left - (place.clientWidth - node.width) / 2
}

/** The picture before stays until the next one is laid out. */
function useLayout(
  page: Page,
  graph: LineageGraph,
  shown: ReadonlySet<string>,
  paths: Parameters<typeof layoutOf>[2],
): Layout | null {
  const [layout, setLayout] = useState<Layout | null>(null)
  useEffect(() => {
    let isLeft = false
    void layoutOf(graph, shown, paths, (node) => factsOf(page, node)).then((made) => {
      if (!isLeft) setLayout(made)
    })
    return () => {
      isLeft = true
    }
  }, [graph, shown, paths])
  return layout
}

function Find({ page, graph }: ViewProps<'lineage'> & { graph: LineageGraph }) {
  const find = (text: string) => {
    const node = [...graph.nodes.values()].find(({ name }) => name === text)
    if (node !== undefined) page.navigate({ view: 'lineage', query: lineageQuery(node) })
  }
  return (
    <label class="chart-choice">
      <span class="unseen">Find a model</span>
      <input
        type="search"
        class="field"
        list="models"
        placeholder="Find a model"
        data-key="f"
        onInput={(event) => find(event.currentTarget.value)}
      />
      <datalist id="models">
        {[...graph.nodes.values()].map(({ id, name }) => (
          <option key={id} value={name} />
        ))}
      </datalist>
    </label>
  )
}
