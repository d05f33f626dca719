// Literals of places: `SRID=4326;Point(13.4 52.5)`, as they stand between quotes in a URL. They are read here and written
// anew as well-known text, so that DuckDB gets none that it could refuse.

import { limits } from '../../core/limits.ts'
import { invalidValue } from '../protocol/errors.ts'
import { type GeoShape, type GeoSurface, geoType, WGS84 } from './geo.ts'

interface GeoLiteral {
  readonly type: ReturnType<typeof geoType>
  /** Well-known text. */
  readonly text: string
}

/**
 * `at`: the place of the first character of `text` in what the client has written. The words are case-insensitive; without
 * a reference system it is that of WGS 84 for a Geography, and 0 for a Geometry. Throws invalid-value with the place.
 */
export function geoLiteral(surface: GeoSurface, text: string, at: number): GeoLiteral {
  const reader = new Reader(surface, text, at)
  const srid = reader.srid()
  const { shape, written } = reader.shape(0)
  reader.end()
  return { type: geoType(surface, srid, shape), text: reader.withDimensions(written) }
}

const shapeOf: Readonly<Record<string, GeoShape>> = {
  point: 'Point',
  linestring: 'LineString',
  polygon: 'Polygon',
  multipoint: 'MultiPoint',
  multilinestring: 'MultiLineString',
  multipolygon: 'MultiPolygon',
  collection: 'Collection',
  geometrycollection: 'Collection',
}

/** Words for the numbers of a position, after the name of a shape. */
const DIMENSIONS: Readonly<Record<number, string>> = { 2: '', 3: ' Z', 4: ' ZM' }

/** Stands for these words until all positions are read. */
const MARK = '#'

const NUMBER = /[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?/iy
const WORD = /[a-z]+/iy
const SPACES = / +/y

/** The same for 1 and 1.0. */
const numbersOf = (position: string): string => position.split(' ').map(Number).join(' ')

class Reader {
  readonly #surface: GeoSurface
  readonly #text: string
  readonly #at: number
  #next = 0
  #positions = 0
  #dimensions: number | null = null

  constructor(surface: GeoSurface, text: string, at: number) {
    this.#surface = surface
    this.#text = text
    this.#at = at
  }

  srid(): number {
    const usual = this.#surface === 'Geography' ? WGS84 : 0
    const found = /^SRID=(\d{1,6});/i.exec(this.#text)
    if (found === null) {
      if (/^SRID/i.test(this.#text)) throw this.#wrong(`SRID=${usual}; before the shape`)
      return usual
    }
    const srid = Number(found[1])
    if (this.#surface === 'Geography' && srid !== WGS84)
      throw this.#wrong(`SRID=${WGS84}, the only reference system of a geography here`)
    this.#next = found[0].length
    return srid
  }

  /** `depth`: collections around it. */
  shape(depth: number): { readonly shape: GeoShape; readonly written: string } {
    const from = this.#next
    const shape = shapeOf[this.#take(WORD)?.toLowerCase() ?? '']
    if (shape === undefined) throw this.#wrong('a shape such as Point, LineString or Polygon', from)
    if (depth > limits.geoDepth)
      throw this.#wrong(`at most ${limits.geoDepth} collections in each other`, from)
    return { shape, written: this.#contentOf(shape, depth) }
  }

  end(): void {
    this.#skip()
    if (this.#next < this.#text.length) throw this.#wrong('the end')
  }

  withDimensions(written: string): string {
    return written.replaceAll(MARK, DIMENSIONS[this.#dimensions ?? 2]!)
  }

  #contentOf(shape: GeoShape, depth: number): string {
    if (shape === 'Collection')
      return `GEOMETRYCOLLECTION${MARK} ${this.#list(() => this.shape(depth + 1).written)}`
    const point = () => this.#list(() => this.#position(), 1, 1)
    const contents = {
      Point: point,
      LineString: () => this.#line(),
      Polygon: () => this.#area(),
      MultiPoint: () => this.#list(point),
      MultiLineString: () => this.#list(() => this.#line()),
      MultiPolygon: () => this.#list(() => this.#area()),
    }
    return `${shape.toUpperCase()}${MARK} ${contents[shape]()}`
  }

  #line(): string {
    return this.#list(() => this.#position(), 2)
  }

  #area(): string {
    return this.#list(() => {
      const from = this.#next
      const ring: string[] = []
      const written = this.#list(() => {
        const position = this.#position()
        ring.push(position)
        return position
      }, 4)
      if (numbersOf(ring[0]!) !== numbersOf(ring.at(-1)!))
        throw this.#wrong('a ring whose last position is its first one', from)
      return written
    })
  }

  #list(item: () => string, least = 1, most = Infinity): string {
    this.#skip()
    const from = this.#next
    this.#expect('(')
    const items = [item()]
    while (items.length < most && this.#has(',')) items.push(item())
    this.#expect(')')
    if (items.length < least) throw this.#wrong(`at least ${least} positions`, from)
    return `(${items.join(', ')})`
  }

  #position(): string {
    this.#skip()
    const from = this.#next
    if (++this.#positions > limits.geoPositions)
      throw this.#wrong(`at most ${limits.geoPositions} positions`)
    const numbers: string[] = []
    do numbers.push(this.#number())
    while (numbers.length < 4 && this.#take(SPACES) !== null && !this.#isAtEnd())
    if (numbers.length < 2) throw this.#wrong('two numbers with a space between them', from)
    this.#dimensions ??= numbers.length
    if (numbers.length !== this.#dimensions)
      throw this.#wrong(`${this.#dimensions} numbers, as in the first position`, from)
    if (this.#surface === 'Geography') this.#requireOnEarth(numbers, from)
    return numbers.join(' ')
  }

  #requireOnEarth([longitude, latitude]: readonly string[], from: number): void {
    if (Math.abs(Number(longitude)) <= 180 && Math.abs(Number(latitude)) <= 90) return
    throw this.#wrong('a longitude of at most 180 and then a latitude of at most 90 degrees', from)
  }

  #number(): string {
    const from = this.#next
    const number = this.#take(NUMBER)
    if (number === null || !Number.isFinite(Number(number))) throw this.#wrong('a number', from)
    // DuckDB reads no sign but that of a negative one.
    return number.startsWith('+') ? number.slice(1) : number
  }

  #isAtEnd(): boolean {
    return /[,)]/.test(this.#text[this.#next] ?? ')')
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#next
    const found = pattern.exec(this.#text)
    if (found !== null) this.#next = pattern.lastIndex
    return found?.[0] ?? null
  }

  #skip(): void {
    this.#take(SPACES)
  }

  #has(sign: string): boolean {
    this.#skip()
    if (this.#text[this.#next] !== sign) return false
    this.#next++
    this.#skip()
    return true
  }

  #expect(sign: string): void {
    if (!this.#has(sign)) throw this.#wrong(`"${sign}"`)
  }

  #wrong(expected: string, from = this.#next) {
    const rest = this.#text.slice(from, from + 20)
    const found = rest === '' ? 'it ends there' : `not "${rest}"`
    const surface = this.#surface.toLowerCase()
    return invalidValue(
      `the ${surface} needs ${expected}, ${found} (at character ${this.#at + from + 1})`,
    )
  }
}
