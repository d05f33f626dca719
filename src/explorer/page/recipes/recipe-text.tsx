import { Button } from '../parts/button.tsx'
import { useEffect, useState } from 'preact/hooks'
import { CopyButton } from '../parts/request-bar.tsx'
import { connectRoute, type Recipe, recipesFor, type ToolId } from './recipes.ts'
import { state } from '../parts/state.ts'
import { useValue } from '../parts/use-value.ts'
import { usePage } from '../page.ts'
import { Link } from '../parts/link.tsx'
import type { RowsContext } from '../rows/rows-context.ts'
import './recipes.css'

export function RecipeText({ recipe }: { recipe: Recipe }) {
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
