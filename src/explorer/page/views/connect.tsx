import { readOptions, withOptions, writeOptions } from '../address/options.ts'
import { Select } from '../parts/select.tsx'
import { RequestBar } from '../parts/request-bar.tsx'
import { Link } from '../parts/link.tsx'
import { usePage, type ViewProps } from '../page.ts'
import { RecipeText } from '../recipes/recipe-text.tsx'
import { recipesFor } from '../recipes/recipes.ts'
import { rowsRequest } from '../rows/requests.ts'
import './connect.css'

/** How each tool gets a set, or the rows of a query: `/connect?set=core_orders&$filter=…`. */
export function ConnectView({ route }: ViewProps<'connect'>) {
  const page = usePage()
  const options = readOptions(route.query)
  const set = page.schema.set(options.get('set') ?? '') ?? page.schema.sets[0]
  if (set === undefined) return null
  const state = {
    set: set.name,
    options: withOptions(options, { set: undefined, tool: undefined }),
  }
  const recipes = recipesFor(page.service.url(''), set, state, page.schema.hasParquet)
  const recipe = recipes.find(({ id }) => id === options.get('tool')) ?? recipes[0]!
  const choose = (name: string) =>
    page.navigate({ view: 'connect', query: writeOptions(new Map([['set', name]])) })
  return (
    <>
      <header class="connect-head">
        <h1 tabIndex={-1}>Connect</h1>
        <label class="set-choice">
          Set
          <Select
            value={set.name}
            options={page.schema.sets.map(({ name }) => name)}
            onChange={choose}
          />
        </label>
      </header>
      {options.has('set') && set.name !== options.get('set') && (
        <p role="alert">
          There is no set {options.get('set')}; this is {set.name}.
        </p>
      )}
      <RequestBar request={rowsRequest(state)} />
      <div class="connect">
        <nav class="connect-tools" aria-label="Tools" data-keeps-focus>
          {recipes.map(({ id, tool }) => (
            <Link
              key={id}
              class="connect-tool"
              current={id === recipe.id}
              to={{ view: 'connect', query: writeOptions(withOptions(options, { tool: id })) }}
            >
              {tool}
            </Link>
          ))}
        </nav>
        <section class="connect-recipe" aria-label={recipe.tool}>
          <h2>{recipe.tool}</h2>
          <RecipeText recipe={recipe} />
        </section>
      </div>
    </>
  )
}
