// The id of an entity as a value of its row: `shop_items(order_id=10,line=2)`, relative to the service root. References
// are rows with this alone (JSON Format 4.01, 14).

import {
  type Expression,
  type OutputProperty,
  propertyOf,
  type RowVariable,
  call,
  constant,
} from './bound.ts'
import { odataError } from '../protocol/errors.ts'
import { edm } from '../edm/types.ts'
import type { Property } from '../edm/model.ts'

export function entityIdOutput(row: RowVariable): OutputProperty {
  const { name, type } = row.set
  const [first, ...more] = type.key
  if (first === undefined)
    throw odataError('no-key', `${type.name} has no key, so its entities have no ids`)
  const parts =
    more.length === 0
      ? [keyText(row, first)]
      : type.key.flatMap((property, i) => [
          constantText(`${i === 0 ? '' : ','}${encodeURIComponent(property.name)}=`),
          keyText(row, property),
        ])
  const value = [constantText(`${name}(`), ...parts, constantText(')')].reduce(joinedTexts)
  return { name: '@odata.id', type: edm.String, value }
}

export const constantText = (value: string) => constant(edm.String, value)

export const joinedTexts = (a: Expression, b: Expression): Expression =>
  call('concat', edm.String, a, b)

/** The text of a key property in the parentheses of a URL. */
function keyText(row: RowVariable, property: Property): Expression {
  const { type } = property
  const name = type.name === 'Edm.String' ? 'textInUrl' : 'valueInUrl'
  return call(name, edm.String, propertyOf(row, property))
}
