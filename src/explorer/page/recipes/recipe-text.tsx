import { useEffect, useState } from 'preact/hooks'
import { CopyButton } from '../parts/request-bar.tsx'
import type { Recipe } from './recipes.ts'
import './recipes.css'

/** One tool: what to do, what to paste, what to know. */
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
