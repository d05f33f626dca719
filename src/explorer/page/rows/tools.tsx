import { state } from '../parts/state.ts'
import { useValue } from '../parts/use-value.ts'
import { usePage } from '../page.ts'
import { Link } from '../parts/link.tsx'
import { connectRoute, recipesFor, type ToolId } from '../recipes/recipes.ts'
import { RecipeText } from '../recipes/recipe-text.tsx'
import type { RowsContext } from './rows-context.ts'

/** The tool whose recipe is open below the request. */
const openTool = state<ToolId | null>(null)

const TOOLS: readonly (readonly [ToolId, string])[] = [
  ['excel', 'Excel'],
  ['power-bi', 'Power BI'],
  ['pandas', 'pandas'],
  ['curl', 'curl'],
]

export function ToolButtons({ context: { state: rows } }: { context: RowsContext }) {
  const open = useValue(openTool)
  return (
    <span class="tools" role="group" aria-label="Take it into">
      {TOOLS.map(([id, name]) => (
        <button
          key={id}
          type="button"
          class="button"
          aria-expanded={open === id}
          onClick={() => (openTool.value = open === id ? null : id)}
        >
          {name}
        </button>
      ))}
      <Link class="button" to={connectRoute(rows)}>
        More …
      </Link>
    </span>
  )
}

/** How to get exactly these rows into the chosen tool. */
export function ConnectRegion({ context }: { context: RowsContext }) {
  const { service, schema } = usePage()
  const { set, state: rows } = context
  const open = useValue(openTool)
  if (open === null) return null
  const recipes = recipesFor(service.url(''), set, rows, schema.hasParquet)
  const recipe = recipes.find(({ id }) => id === open)!
  return (
    <section class="connect-region" role="region" aria-label="Connect">
      <header>
        <h2>{recipe.tool}</h2>
        <button
          type="button"
          class="button quiet"
          aria-label="Close"
          onClick={() => (openTool.value = null)}
        >
          ✕
        </button>
      </header>
      <RecipeText recipe={recipe} />
    </section>
  )
}
