import { Button } from '../parts/button.tsx'
import { useEffect, useState } from 'preact/hooks'
import { CopyButton, RequestBar } from '../parts/request-bar.tsx'
import { connectRoute, type Recipe, recipesFor, type ToolId } from './recipes.ts'
import { state } from '../parts/state.ts'
import { useValue } from '../parts/use-value.ts'
import { usePage, type ViewProps } from '../page.ts'
import { Link } from '../parts/link.tsx'
import type { RowsContext } from '../rows/rows-context.ts'
import { readOptions, withOptions, writeOptions } from '../address/options.ts'
import { Select } from '../parts/select.tsx'
import { rowsRequest } from '../rows/requests.ts'
import './recipes.css'
import '../views/connect.css'

function RecipeText({ recipe }: { recipe: Recipe }) {
  const { tool, steps = [], codes, file, token, notes = [] } = recipe
  return (
    <div class="recipe">
      {steps.length > 0 && (
        <ol>
          {steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      )}
      {Object.entries(codes).map(([name, text]) => (
        <figure key={name} class="code">
          <figcaption>
            <span>{name}</span>
            <CopyButton text={text} name={`Copy ${name} for ${tool}`} />
          </figcaption>
          <pre tabIndex={0} aria-label={`${name} for ${tool}`}>
            {text}
          </pre>
        </figure>
      ))}
      {file !== undefined && <FileLink {...file} />}
      <p class="about">{token}</p>
      {notes.map((note) => (
        <p key={note} class="about">
          {note}
        </p>
      ))}
    </div>
  )
}

/** Made in the page, so that there is one text of it. */
function FileLink({ name, content, type }: { name: string; content: string; type: string }) {
  const [url, setUrl] = useState('')
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([content], { type }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [content, type])
  return (
    <p>
      <a class="button" href={url} download={name}>
        {name}
      </a>
    </p>
  )
}

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
        <Button
          key={id}
          aria-expanded={open === id}
          onClick={() => (openTool.value = open === id ? null : id)}
        >
          {name}
        </Button>
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
        <Button class="button quiet" name="Close" onClick={() => (openTool.value = null)}>
          ✕
        </Button>
      </header>
      <RecipeText recipe={recipe} />
    </section>
  )
}

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
