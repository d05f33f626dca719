// The explorer in the browser: what is published, what it means, and how to get it.

import { render } from 'preact'
import './page.css'

function Page() {
  return (
    <main>
      <h1>eider</h1>
    </main>
  )
}

const place = document.getElementById('page')
if (place !== null) render(<Page />, place)
