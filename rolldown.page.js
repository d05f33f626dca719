// Puts the page of the explorer into dist/explorer: one script, one style sheet, what is loaded later, and the HTML.
// Names have a hash in them, so that a browser never asks for a file twice. And docs.html, which has all of it in itself:
// `eider docs` puts the data in.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const repository = import.meta.dirname
const icon = readFileSync(join(repository, 'src/explorer/page/icon.svg'), 'utf8')

/** The files of the packages in it, for the licences and the list of packages. */
export const pageModules = []

const browser = {
  // What cannot be resolved in a browser, such as a module of Node, is only a warning to the bundler.
  onLog(_level, log) {
    throw new Error(log.message)
  },
  platform: 'browser',
  transform: { target: 'es2022' },
}

/**
 * dagre hangs its algorithms for graphs in general on objects, all of which a bundler has to keep. What nothing reads there
 * never runs.
 */
const withoutUnused = {
  name: 'without-unused',
  transform: (code, id) =>
    id.includes('/@dagrejs/dagre/') ? withoutUnreadMembers(withoutGreedy(code)) : null,
}

/** Another way to break circles, for whoever chooses it. */
function withoutGreedy(code) {
  return code.replace(
    /\(e\.graph\(\)\.acyclicer==="greedy"\?[^?]*?:(ht\(e,.*?\))\)\.forEach/,
    '$1.forEach',
  )
}

/** `fill(object,{a:()=>x,b:()=>y})` is left with the members that `{a:z}=object` takes out of it. */
function withoutUnreadMembers(code) {
  return code.replace(
    /(?<=;)([\w$]+\(([\w$]+),)\{((?:\w+:\(\)=>[\w$]+,?)+)\}\)/g,
    (_call, start, object, members) => {
      const taken = new RegExp(`\\{([^{}]*)\\}=${object}[;,]`).exec(code)?.[1] ?? ''
      const names = new Set(taken.split(',').map((pair) => pair.split(':')[0]))
      const kept = members.split(',').filter((member) => names.has(member.split(':')[0]))
      return `${start}{${kept.join()}})`
    },
  )
}

export const page = {
  ...browser,
  input: { page: 'src/explorer/page/main.tsx' },
  output: {
    dir: 'dist/explorer',
    cleanDir: true,
    minify: true,
    comments: false,
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
  },
  plugins: [styleSheets(), withoutUnused, { name: 'html', generateBundle: emitPage }],
}

export const docs = {
  ...browser,
  input: { docs: 'src/explorer/page/docs/main.tsx' },
  output: { dir: 'dist/explorer', minify: true, codeSplitting: false },
  plugins: [styleSheets(), withoutUnused, { name: 'one-file', generateBundle: emitDocs }],
}

/** The style sheets that modules import, in the order of their imports, as one file. */
function styleSheets() {
  const sheets = new Map()
  return {
    name: 'style-sheets',
    load(id) {
      if (!id.endsWith('.css')) return null
      sheets.set(id, readFileSync(id, 'utf8'))
      return { code: '', moduleType: 'js', moduleSideEffects: true }
    },
    generateBundle() {
      const source = [...sheets.values()].join('\n')
      this.emitFile({ type: 'asset', fileName: hashedName('page', source, 'css'), source })
    },
  }
}

/** Script and style are named by their hashes, so that nothing else runs, whatever is in the data. */
function emitDocs(_options, bundle) {
  const [chunk] = Object.values(bundle).filter(({ type }) => type === 'chunk')
  pageModules.push(...Object.keys(chunk.modules))
  const [name] = Object.keys(bundle).filter((file) => file.endsWith('.css'))
  const style = bundle[name].source
  // An end of the element within a text of the script would end the script.
  const script = chunk.code.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--')
  for (const file of Object.keys(bundle)) delete bundle[file]
  this.emitFile({ type: 'asset', fileName: 'docs.html', source: docsHtml({ script, style }) })
}

const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const docsHtml = ({ script, style }) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="referrer" content="no-referrer" />
    <title>eider</title>
    <style>${style}</style>
  </head>
  <body>
    <div id="page"></div>
    <noscript><p>This page needs JavaScript.</p></noscript>
    <script type="application/json" id="data"></script>
    <script type="module">${script}</script>
  </body>
</html>
`

function emitPage(_options, bundle) {
  const chunks = Object.values(bundle).filter(({ type }) => type === 'chunk')
  pageModules.push(...chunks.flatMap(({ modules }) => Object.keys(modules)))
  const script = chunks.find(({ name }) => name === 'page').fileName
  const style = Object.keys(bundle).find((name) => name.endsWith('.css'))
  const iconFile = hashedName('icon', icon, 'svg')
  this.emitFile({ type: 'asset', fileName: iconFile, source: icon })
  const source = html({ script, style, iconFile })
  this.emitFile({ type: 'asset', fileName: 'index.html', source })
}

function hashedName(name, source, extension) {
  const hash = createHash('sha256').update(source).digest('base64url').slice(0, 8)
  return `${name}-${hash}.${extension}`
}

/** Links are relative to the root of the server; `src/explorer/serve-page.ts` has it in a form for each depth of path. */
const html = ({ script, style, iconFile }) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>eider</title>
    <link rel="icon" href="./explorer/${iconFile}" type="image/svg+xml" />
    <link rel="stylesheet" href="./explorer/${style}" />
    <script type="module" src="./explorer/${script}"></script>
  </head>
  <body>
    <div id="page"></div>
    <noscript>
      <p>
        This page needs JavaScript. The data is at <a href="./odata">odata</a>, its description at
        <a href="./odata/$metadata">$metadata</a>.
      </p>
    </noscript>
  </body>
</html>
`
