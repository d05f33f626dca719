import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { geoLiteral } from '../../../src/odata/edm/geo-literals.ts'

const read = (text: string) => geoLiteral('Geography', text, 0)

const forms: Readonly<Record<string, string>> = {
  'SRID=4326;Point(13.405 52.52)': 'POINT (13.405 52.52)',
  'srid=4326;POINT( -1.5e1 +2 )': 'POINT (-1.5e1 2)',
  'Point (1 2 3)': 'POINT Z (1 2 3)',
  'Point(1 2 3 4)': 'POINT ZM (1 2 3 4)',
  'LineString(0 0,1 1)': 'LINESTRING (0 0, 1 1)',
  'Polygon((0 0,1 0,1 1,0 0),(0.1 0.1,0.2 0.1,0.2 0.2,0.1 0.1))':
    'POLYGON ((0 0, 1 0, 1 1, 0 0), (0.1 0.1, 0.2 0.1, 0.2 0.2, 0.1 0.1))',
  'Polygon((0 0,1e+1 0,1 1,0.0 -0))': 'POLYGON ((0 0, 1e+1 0, 1 1, 0.0 -0))',
  'MultiPoint((1 2),(3 4))': 'MULTIPOINT ((1 2), (3 4))',
  'MultiLineString((0 0,1 1),(2 2,3 3))': 'MULTILINESTRING ((0 0, 1 1), (2 2, 3 3))',
  'MultiPolygon(((0 0,1 0,1 1,0 0)))': 'MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)))',
  'Collection(Point(1 2),Collection(LineString(0 0,1 1)))':
    'GEOMETRYCOLLECTION (POINT (1 2), GEOMETRYCOLLECTION (LINESTRING (0 0, 1 1)))',
}

for (const [text, written] of Object.entries(forms))
  test(`${text} is read`, () => {
    assert.is(read(text).text, written)
    assert.is(read(text).type.srid, 4326)
  })

test('the shape is in the type, and a geometry has any reference system', () => {
  assert.is(read('Point(1 2)').type.name, 'Edm.GeographyPoint')
  assert.is(read('Collection(Point(1 2))').type.name, 'Edm.GeographyCollection')
  const { type } = geoLiteral('Geometry', 'SRID=25832;Polygon((0 0,900 0,900 900,0 0))', 0)
  assert.is(`${type.name} ${type.srid}`, 'Edm.GeometryPolygon 25832')
  assert.is(geoLiteral('Geometry', 'Point(500000 6000000)', 0).type.srid, 0)
})

const wrong: Readonly<Record<string, RegExp>> = {
  '': /needs a shape such as Point, LineString or Polygon, it ends there \(at character 1\)$/,
  'Circle(1 2)': /needs a shape .*, not "Circle\(1 2\)" \(at character 1\)$/,
  'Point(1,2)': /needs two numbers with a space between them, not "1,2\)" \(at character 7\)$/,
  'Point(1 2': /needs "\)", it ends there \(at character 10\)$/,
  'Point(1 2) x': /needs the end, not "x" \(at character 12\)$/,
  'Point(1 2 3 4 5)': /needs "\)", not "5\)" \(at character 15\)$/,
  'Point(1 2)(3 4)': /needs the end/,
  'Point(1 x)': /needs a number, not "x\)" \(at character 9\)$/,
  'Point(1 NaN)': /needs a number/,
  'Point(1 1e999)': /needs a number/,
  'Point(1 2, 3 4)': /needs "\)", not ", 3 4\)"/,
  'Point EMPTY': /needs "\("/,
  'LineString(0 0)': /needs at least 2 positions/,
  'LineString(0 0,1 1 1)': /needs 2 numbers, as in the first position, not "1 1 1\)"/,
  'Polygon((0 0,1 0,0 0))': /needs at least 4 positions/,
  'Polygon((0 0,1 0,1 1,0 1))': /needs a ring whose last position is its first one/,
  'Point(52.5 130.4)': /needs a longitude of at most 180 and then a latitude of at most 90 degrees/,
  'SRID=4326 Point(1 2)': /needs SRID=4326; before the shape/,
  'SRID=4258;Point(1 2)': /needs SRID=4326, the only reference system of a geography here/,
}

for (const [text, message] of Object.entries(wrong))
  test(`${text || 'nothing'} is refused, with the place`, () => {
    assert.throws(
      () => read(text),
      (error: Error) => message.test(error.message),
      text,
    )
  })

test('positions and collections in each other have a limit', () => {
  const line = (positions: number) =>
    `LineString(${Array.from({ length: positions }, (_, i) => `${i % 180} 1`).join(',')})`
  assert.ok(read(line(limits.geoPositions)))
  assert.throws(() => read(line(limits.geoPositions + 1)), /needs at most 2000 positions/)
  const nested = (depth: number) => `${'Collection('.repeat(depth)}Point(1 2)${')'.repeat(depth)}`
  assert.ok(read(nested(limits.geoDepth)))
  assert.throws(
    () => read(nested(limits.geoDepth + 1)),
    /needs at most 10 collections in each other/,
  )
})

test('a long literal that breaks off is refused in a time that grows with its length', () => {
  const broken = [
    (n: number) => 'Collection('.repeat(n),
    (n: number) => `Point(${' '.repeat(n)}`,
    (n: number) => `Point(${'1'.repeat(n)}`,
    (n: number) => `Point(1${'.1'.repeat(n)} 2)`,
    (n: number) => `${'('.repeat(n)}`,
    (n: number) => `${'a'.repeat(n)}(`,
  ]
  const took = (text: string) => {
    const start = performance.now()
    assert.throws(() => read(text))
    return performance.now() - start
  }
  // A quadratic reader takes seconds for a million characters.
  for (const make of broken) assert.ok(took(make(1_000_000)) < 500, make(1))
})

test.run()
