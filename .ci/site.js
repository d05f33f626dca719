// npm run docs: the documentation as a static site with search. It works from any web server and from the disk, and asks
// no other host for anything.
//
//   node .ci/site.js [DIRECTORY]    by default dist-site

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { navigationOf } from './site/navigation.js'
import { documentOf } from './site/page.js'
import { pages, pathOf } from './site/pages.js'
import { renderer } from './site/render.js'

const repository = join(import.meta.dirname, '..')
const out = resolve(process.argv[2] ?? join(repository, 'dist-site'))
const read = (file) => readFileSync(join(repository, file), 'utf8')

rmSync(out, { recursive: true, force: true })
const rendered = pages().map((file) => renderer(file, read(file)))
const navigation = navigationOf(read('docs/README.md'), rendered)
for (const page of rendered) write(pathOf(page.file), documentOf(page, navigation))

for (const file of new Set(rendered.flatMap(({ assets }) => assets))) {
  mkdirSync(dirname(join(out, file)), { recursive: true })
  copyFileSync(join(repository, file), join(out, file))
}

const here = join(import.meta.dirname, 'site')
const miniSearch = createRequire(import.meta.url).resolve('minisearch')
const script = readFileSync(join(dirname(miniSearch), '../umd/index.js'), 'utf8')
const sections = rendered.flatMap((page) => page.sections)
write('style.css', readFileSync(join(here, 'style.css'), 'utf8'))
write(
  'search.js',
  `${script.replace(/^\/\/# sourceMappingURL.*$/m, '')}
const sections = ${JSON.stringify(sections).replaceAll('</', '<\\/')}
${readFileSync(join(here, 'search.js'), 'utf8')}`,
)
process.stdout.write(`${rendered.length} pages in ${relative(process.cwd(), out)}/index.html\n`)

function write(file, text) {
  mkdirSync(dirname(join(out, file)), { recursive: true })
  writeFileSync(join(out, file), text)
}
