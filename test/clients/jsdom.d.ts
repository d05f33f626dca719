// The part of jsdom that the tests use. Its own types bring those of a browser into every file of the project.

declare module 'jsdom' {
  export interface Window {
    readonly location: { readonly href: string }
    readonly XMLHttpRequest: {
      readonly prototype: {
        open(this: object, method: string, url: string, ...rest: unknown[]): void
      }
    }
    matchMedia: (query: string) => object
    addEventListener(type: 'load', listener: (event: unknown) => void): void
    close(): void
    /** What UI5's loader adds. */
    readonly sap: {
      readonly ui: {
        readonly loader: { config(settings: object): void }
        readonly require: {
          (
            names: readonly string[],
            resolve: (...modules: unknown[]) => void,
            reject: (error: unknown) => void,
          ): void
          preload(modules: Readonly<Record<string, string>>): void
        }
      }
    }
  }

  export class ResourceLoader {
    fetch(url: string): Promise<Buffer>
  }

  export class VirtualConsole {
    on(level: 'jsdomError' | 'error' | 'warn', listener: (...parts: unknown[]) => void): void
  }

  export class JSDOM {
    constructor(
      html: string,
      options: {
        readonly url: string
        readonly runScripts: 'dangerously'
        readonly resources: ResourceLoader
        readonly virtualConsole: VirtualConsole
        readonly beforeParse: (window: Window) => void
      },
    )
    readonly window: Window
  }
}
