import type { RefObject } from 'preact'
import { Button } from '../parts/button.tsx'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import {
  columnPaths,
  findNodes,
  type LineageGraph,
  lineageGraph,
  type LineageNode,
  lineageRoute,
  readLineageAddress,
  related,
} from '../lineage/graph.ts'
import { drawnGraph, MOST_NODES, shownPart } from '../lineage/fold.ts'
import { usePan } from '../lineage/move.ts'
import { factsOf, type GraphLayout, layoutOf, LineagePicture } from '../lineage/lineage-picture.tsx'
import { LineageList, NodePanel } from '../lineage/node-panel.tsx'
import { usePage, type ViewProps } from '../page.ts'
import '../lineage/lineage.css'

export function LineageView({ route }: ViewProps<'lineage'>) {
  const { catalog } = usePage()
  const graph = useMemo(() => (catalog === null ? null : lineageGraph(catalog)), [catalog])
  if (graph === null || graph.nodes.size === 0)
    return (
      <section>
        <h1 tabIndex={-1}>Lineage</h1>
        <p>Nothing is known of the models yet. The next run publishes it with the data.</p>
      </section>
    )
  return <Lineage route={route} graph={graph} />
}

function Lineage({ route, graph }: ViewProps<'lineage'> & { graph: LineageGraph }) {
  const { chosen, column, opened } = readLineageAddress(route.query, graph)
  const paths = useMemo(
    () =>
      chosen === null || column === null ? null : columnPaths(graph, { node: chosen.id, column }),
    [graph, chosen, column],
  )
  const shown = useMemo(
    // All of a way is worth seeing, however long it is.
    () => shownPart(graph, chosen?.id ?? null, opened, paths?.columns.keys()),
    [graph, chosen, paths, [...opened].join()],
  )
  const drawn = useMemo(() => drawnGraph(graph, shown), [graph, shown])
  const [sought, seek] = useState('')
  const [scale, zoom] = useState<number | null>(1)
  const found = useMemo(() => findNodes(graph, sought), [graph, sought])
  const lit = useMemo(() => {
    const own = litNodes()
    if (own === null) return null
    const folds = [...shown.folds].filter(([, { ids }]) => ids.some((id) => own.has(id)))
    return new Set([...own, ...folds.map(([id]) => id)])

    function litNodes(): ReadonlySet<string> | null {
      if (found.length > 0) return new Set(found.map(({ id }) => id))
      if (paths !== null) return new Set(paths.columns.keys())
      return chosen === null ? null : related(graph, chosen.id)
    }
  }, [graph, chosen, paths, found, shown])
  const place = useRef<HTMLDivElement>(null)
  const layout = useLayout(drawn, paths, place)
  useEffect(() => showChosen(place.current), [layout, chosen, scale])
  usePan(place)
  return (
    <>
      <header class="lineage-head">
        <h1 tabIndex={-1}>Lineage</h1>
        <div class="lineage-tools">
          <Find graph={graph} text={sought} onText={seek} found={found} />
          <Zoom scale={scale} onScale={zoom} />
        </div>
      </header>
      {chosen === null && <NothingChosen query={route.query} graph={graph} />}
      <div class="lineage">
        <div
          ref={place}
          class="lineage-graph"
          role="region"
          aria-label="Graph of models"
          aria-busy={layout === null}
        >
          {layout !== null && (
            <LineagePicture
              layout={layout}
              chosen={chosen}
              column={column}
              opened={opened}
              lit={lit}
              paths={paths}
              folds={shown.folds}
              hidden={shown.hidden}
              scale={scale}
            />
          )}
        </div>
        {chosen !== null && <NodePanel graph={graph} node={chosen} column={column} paths={paths} />}
      </div>
      <LineageList graph={graph} chosen={chosen} />
    </>
  )
}

function NothingChosen({ query, graph }: { query: string; graph: LineageGraph }) {
  return (
    <>
      {/(?:^|&)(?:model|set)=/.test(query) && (
        <p role="alert">There is nothing of this name in the graph.</p>
      )}
      <p class="soft">
        From sources and events at the left to the sets at the right. Choose a model to see what it
        is made of
        {graph.nodes.size > MOST_NODES &&
          '; this is the part around the one with the most connections'}
        .
      </p>
    </>
  )
}

/** Where the graph does not fit, the chosen node is in the middle. */
function showChosen(place: HTMLElement | null): void {
  const node = place?.querySelector('.node.chosen')?.getBoundingClientRect()
  if (place === null || node === undefined) return
  const { left, top } = place.getBoundingClientRect()
  place.scrollLeft += node.left - left - (place.clientWidth - node.width) / 2
  place.scrollTop += node.top - top - (place.clientHeight - node.height) / 2
}

/** Around the picture, as in the style sheet. */
const PADDING = 6

/** The picture before stays until the next one is laid out. */
function useLayout(
  graph: LineageGraph,
  paths: Parameters<typeof layoutOf>[1],
  place: RefObject<HTMLElement | null>,
): GraphLayout | null {
  const page = usePage()
  const [layout, setLayout] = useState<GraphLayout | null>(null)
  useEffect(() => {
    let isLeft = false
    const room = place.current!.clientWidth - 2 * PADDING
    void layoutOf(graph, paths, (node) => factsOf(page, node), room).then((made) => {
      if (!isLeft) setLayout(made)
    })
    return () => {
      isLeft = true
    }
  }, [graph, paths])
  return layout
}

interface FindProps {
  readonly graph: LineageGraph
  readonly text: string
  readonly onText: (text: string) => void
  readonly found: readonly LineageNode[]
}

/** What is found is lit in the picture; Enter goes to the first, and a name that is typed whole needs none. */
function Find({ graph, text, onText, found }: FindProps) {
  const page = usePage()
  const [first] = found
  const open = (node: LineageNode | undefined) => {
    if (node === undefined) return
    onText('')
    page.navigate(lineageRoute(node))
  }
  const find = (typed: string) => {
    const whole = [...graph.nodes.values()].find(({ name }) => name === typed)
    if (whole === undefined) onText(typed)
    else open(whole)
  }
  return (
    <>
      <input
        type="search"
        class="field"
        aria-label="Find a model or a column"
        list="models"
        placeholder="Find a model or a column"
        data-key="f"
        value={text}
        onInput={(event) => find(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && open(first)}
      />
      <datalist id="models">
        {[...graph.nodes.values()].map(({ id, name }) => (
          <option key={id} value={name} />
        ))}
      </datalist>
      <output class="soft">
        {text.trim() !== '' &&
          (first === undefined ? 'nothing found' : `${found.length} found, Enter: ${first.name}`)}
      </output>
    </>
  )
}

const ZOOM_STEP = 1.25
const LEAST_SCALE = 0.2
const GREATEST_SCALE = 3

interface ZoomProps {
  readonly scale: number | null
  readonly onScale: (scale: number | null) => void
}

/** Text is never made smaller to make room, unless somebody wants to see all of a picture. */
function Zoom({ scale, onScale }: ZoomProps) {
  const by = (factor: number) =>
    onScale(Math.min(GREATEST_SCALE, Math.max(LEAST_SCALE, (scale ?? 1) * factor)))
  return (
    <span role="group" aria-label="Size">
      <Button name="Smaller" onClick={() => by(1 / ZOOM_STEP)}>
        −
      </Button>{' '}
      <Button name="Larger" onClick={() => by(ZOOM_STEP)}>
        +
      </Button>{' '}
      <Button aria-pressed={scale === null} onClick={() => onScale(scale === null ? 1 : null)}>
        Fit
      </Button>
    </span>
  )
}
