// OpenUI5's OData v4 model as a browser page runs it: its own loader, its own HTTP requests, in jsdom.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { JSDOM, ResourceLoader, VirtualConsole, type Window } from 'jsdom'

const sources = join(
  dirname(createRequire(import.meta.url).resolve('@openui5/sap.ui.core/package.json')),
  'src',
)
const RESOURCES = '/resources/'
/** Locale data, which UI5 fetches in a synchronous request unless it has them already. */
const LOCALE = 'sap/ui/core/cldr/en.json'

/** A copy made of this realm's arrays and objects, which comparisons want. */
export const fromPage = <T>(value: T): T => structuredClone(value)

/** The part of sap.ui.model.odata.v4.Context that the tests read. */
interface Ui5Context {
  getObject(): Readonly<Record<string, unknown>>
  getPath(): string
}

/** Of sap.ui.model.odata.v4.ODataListBinding. */
export interface Ui5ListBinding {
  requestContexts(start?: number, length?: number): Promise<readonly Ui5Context[]>
  getLength(): number
  isLengthFinal(): boolean
  filter(filters: unknown): void
  sort(sorters: unknown): void
}

/** Of sap.ui.model.odata.v4.ODataModel. */
export interface Ui5Model {
  getMetaModel(): { requestObject(path: string): Promise<Readonly<Record<string, unknown>>> }
  bindList(
    path: string,
    context: null,
    sorters: readonly unknown[],
    filters: readonly unknown[],
    parameters: Readonly<Record<string, unknown>>,
  ): Ui5ListBinding
  bindContext(
    path: string,
    context?: null,
    parameters?: Readonly<Record<string, unknown>>,
  ): { requestObject(path?: string): Promise<unknown> }
  bindProperty(path: string): { requestValue(): Promise<unknown> }
}

type Constructor<T> = new (...args: readonly unknown[]) => T

export interface Ui5Page extends Disposable {
  readonly Filter: Constructor<unknown>
  readonly Sorter: Constructor<unknown>
  model(parameters?: Readonly<Record<string, unknown>>): Ui5Model
  /** Method and path of each request so far. */
  readonly requests: readonly string[]
  /** What the page wrote to its console as a warning or an error. */
  readonly complaints: readonly string[]
}

/** A page of the same origin as the service at `url`. Everything but its requests to the service comes from disk. */
export async function openUi5Page(url: string): Promise<Ui5Page> {
  const requests: string[] = []
  const complaints: string[] = []
  const virtualConsole = new VirtualConsole()
  for (const level of ['jsdomError', 'error', 'warn'] as const)
    virtualConsole.on(level, (...parts) => complaints.push(parts.join(' ')))
  const dom = new JSDOM(`<script src="${RESOURCES}ui5loader.js"></script>`, {
    url: new URL('/page.html', url).href,
    runScripts: 'dangerously',
    resources: new FromDisk(),
    virtualConsole,
    beforeParse: (window) => prepare(window, requests),
  })
  const { window } = dom
  await new Promise((resolve) => window.addEventListener('load', resolve))
  const { ui } = window.sap
  ui.loader.config({
    async: true,
    paths: { '': RESOURCES },
    shim: { 'sap/ui/thirdparty/jquery': { amd: true, exports: 'jQuery' } },
  })
  ui.require.preload({ [LOCALE]: await readFile(join(sources, LOCALE), 'utf8') })
  const modules = await new Promise<readonly Constructor<unknown>[]>((resolve, reject) => {
    const names = ['odata/v4/ODataModel', 'Filter', 'Sorter'].map((name) => `sap/ui/model/${name}`)
    ui.require(names, (...found) => resolve(found as readonly Constructor<unknown>[]), reject)
  })
  const [ODataModel, Filter, Sorter] = modules as [
    Constructor<Ui5Model>,
    Constructor<unknown>,
    Constructor<unknown>,
  ]
  return {
    Filter,
    Sorter,
    requests,
    complaints,
    model: (parameters) =>
      new ODataModel({ serviceUrl: `${url}/`, operationMode: 'Server', ...parameters }),
    [Symbol.dispose]: () => window.close(),
  }
}

class FromDisk extends ResourceLoader {
  override fetch(url: string) {
    const path = decodeURIComponent(new URL(url).pathname).slice(RESOURCES.length)
    return readFile(join(sources, path))
  }
}

/** What UI5 expects of a browser and jsdom does not have; and an ear on its requests. */
function prepare(window: Window, requests: string[]): void {
  const ignore = () => {}
  window.matchMedia = () => ({ matches: false, addListener: ignore, removeListener: ignore })
  const { XMLHttpRequest } = window
  const open = Reflect.get(XMLHttpRequest.prototype, 'open')
  XMLHttpRequest.prototype.open = function (...args) {
    const [method, url] = args
    const { pathname, search } = new URL(url, window.location.href)
    requests.push(`${method} ${pathname}${search}`)
    return Reflect.apply(open, this, args)
  }
}
