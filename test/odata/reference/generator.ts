// Random expressions that are well typed.

import { conversion } from './conversions.ts'
import {
  binary,
  call,
  constant,
  type Expression,
  make,
  minus,
  type Names,
  PRIMARY,
  type Type,
  within,
} from './expression.ts'
import { literals } from './literals.ts'
import { clockOf, datePart, dayOf, durationOf, shift } from './times.ts'
import {
  and,
  calculate,
  compare,
  type Exact,
  exact,
  inCase,
  indexOf,
  join,
  length,
  negate,
  not,
  or,
  roundTo,
  substring,
  trim,
} from './values.ts'

export class Generator {
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  below(n: number): number {
    return Math.floor(this.#random() * n)
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!
  }

  #chance(share: number): boolean {
    return this.#random() < share
  }

  /** At most `depth` operators and functions one inside the other. */
  expression(type: Type, names: Names, depth: number): Expression {
    const of = (other: Type) => this.expression(other, names, depth - 1)
    if (depth <= 0 || this.#chance(0.15)) return this.#leaf(type, names)
    if (this.#chance(0.08)) return this.#choice(type, of)
    const typed = (other: Type) => this.#typed(other, of)
    const pick = <T>(from: readonly T[]) => this.pick(from)
    const made = this.#chance(0.1) ? conversion(type, { pick, typed }) : null
    if (made !== null) return made
    switch (type) {
      case 'bool':
        return this.#condition(names, depth, of)
      case 'int':
        return this.#integer(of)
      case 'decimal':
        return this.#decimal(of)
      case 'double':
        return this.#double(of)
      case 'text':
        return this.#text(of)
      case 'duration':
        return this.#duration(of)
      default:
        return this.#time(type, of)
    }
  }

  /** Where the type of an operand decides about that of the result, or is asked for, it must have one. */
  #typed(type: Type, of: (type: Type) => Expression): Expression {
    const found = of(type)
    return found.isNull ? this.#literal(type) : found
  }

  #leaf(type: Type, names: Names): Expression {
    const columns = names.columns.filter((column) => column.type === type)
    if (columns.length > 0 && this.#chance(0.7)) return this.pick(columns)
    return this.#chance(0.06) ? constant(type, 'null', null) : this.#literal(type)
  }

  #literal(type: Type): Expression {
    return this.pick(literals[type])
  }

  #condition(names: Names, depth: number, of: (type: Type) => Expression): Expression {
    const { inside, related } = names
    const kind = this.below(inside === null ? 9 : 11)
    if (kind < 3) return this.#comparison(of)
    if (kind === 3 || kind === 4) {
      const operator = this.pick(['and', 'or'])
      return binary('bool', operator, of('bool'), of('bool'), operator === 'and' ? and : or)
    }
    if (kind === 5) {
      const operand = of('bool')
      return make('bool', `not ${within(operand, 8)}`, 8, (scope) => not(operand.value(scope)))
    }
    if (kind === 6) return this.#list(of)
    if (kind === 7) {
      const operand = this.#typed('int', of)
      const bits = this.pick([0n, 1n, 2n, 5n, 127n])
      return make('bool', `${within(operand, 8)} has ${bits}`, 7, (scope) => {
        const value = operand.value(scope) as Exact | null
        return value === null ? null : (value.units & bits) === bits
      })
    }
    if (kind === 8) {
      const name = this.pick(['contains', 'startswith', 'endswith'])
      const asks = { contains: 'includes', startswith: 'startsWith', endswith: 'endsWith' } as const
      return call('bool', name, [of('text'), of('text')], ([a, b]) =>
        a === null || b === null ? null : (a as string)[asks[name as 'contains']](b as string),
      )
    }
    return this.pick(related)(() => this.expression('bool', inside!, depth - 1))
  }

  #comparison(of: (type: Type) => Expression): Expression {
    const numbers: readonly Type[] = ['int', 'int', 'decimal', 'double']
    const type = this.pick<Type>([
      'int',
      'decimal',
      'double',
      'text',
      'text',
      'day',
      'instant',
      'clock',
      'duration',
      'guid',
      'bool',
    ])
    const isEquality = type === 'guid' || type === 'bool'
    const operator = this.pick(isEquality ? ['eq', 'ne'] : ['eq', 'ne', 'gt', 'ge', 'lt', 'le'])
    const mixed = numbers.includes(type)
      ? this.pick(numbers)
      : type === 'day' && this.#chance(0.3)
        ? 'instant'
        : type
    const sides = [of(type), of(mixed)] as const
    const [left, right] = this.#chance(0.5) ? sides : [sides[1], sides[0]]
    return binary('bool', operator, left, right, (a, b) => compare(operator, a, b))
  }

  #list(of: (type: Type) => Expression): Expression {
    const type = this.pick<Type>(['int', 'decimal', 'text', 'day', 'guid', 'double'])
    const operand = of(type)
    // Parentheses hold literals only, brackets any expression.
    const [open, close] = this.pick(['()', '[]'] as const)
    const item = () => (open === '(' || this.#chance(0.5) ? this.#literal(type) : of(type))
    const items = Array.from({ length: 1 + this.below(3) }, () =>
      this.#chance(0.15) ? constant(type, 'null', null) : item(),
    )
    const list = items.map((item) => item.text).join(',')
    const text = `${within(operand, 8)} in ${open}${list}${close}`
    return make('bool', text, 7, (scope) => {
      const value = operand.value(scope)
      return items.map((item) => compare('eq', value, item.value(scope))).includes(true)
    })
  }

  /** case(…): the first condition that is true. */
  #choice(type: Type, of: (type: Type) => Expression): Expression {
    const branches = Array.from(
      { length: 1 + this.below(2) },
      () => [of('bool'), this.#typed(type, of)] as const,
    )
    const text = branches.map(([condition, value]) => `${condition.text}:${value.text}`).join(',')
    const scale = Math.max(...branches.map(([, value]) => value.scale))
    const whole = Math.max(...branches.map(([, value]) => value.whole))
    return make(
      type,
      `case(${text})`,
      PRIMARY,
      (scope) => {
        const all = branches.map(
          ([condition, value]) => [condition.value(scope), value.value(scope)] as const,
        )
        return all.find(([holds]) => holds === true)?.[1] ?? null
      },
      scale,
      whole,
    )
  }

  #integer(of: (type: Type) => Expression): Expression {
    const kind = this.below(8)
    if (kind < 3) {
      const operator = this.pick(['add', 'sub', 'mul', 'div', 'mod'])
      return binary('int', operator, this.#typed('int', of), this.#typed('int', of), (a, b) =>
        calculate(operator, a, b, true),
      )
    }
    if (kind === 3) return minus(this.#typed('int', of), (value) => negate(value, true))
    if (kind === 4) return call('int', 'length', [of('text')], ([a]) => length(a!))
    if (kind === 5)
      return call('int', 'indexof', [of('text'), of('text')], ([a, b]) => indexOf(a!, b!))
    if (kind === 6) {
      const name = this.pick(['year', 'month', 'day'])
      return call('int', name, [of(this.pick(['day', 'instant']))], ([a]) => datePart(name, a!))
    }
    const name = this.pick(['hour', 'minute', 'second'])
    return call('int', name, [of(this.pick(['clock', 'instant']))], ([a]) => datePart(name, a!))
  }

  /** So few digits that two of these can still be compared exactly. */
  #decimal(of: (type: Type) => Expression): Expression {
    const operand = this.#typed('decimal', of)
    const made = this.#decimalOf(operand, of)
    return made.whole > 28 || made.scale > 9 ? operand : made
  }

  #decimalOf(a: Expression, of: (type: Type) => Expression): Expression {
    const kind = this.below(6)
    if (kind < 3) {
      const operator = this.pick(['add', 'sub', 'mul', 'mod'])
      const b = this.#typed(this.pick<Type>(['decimal', 'int']), of)
      const made = binary('decimal', operator, a, b, (x, y) => calculate(operator, x, y, false))
      return operator === 'mul'
        ? { ...made, whole: a.whole + b.whole, scale: a.scale + b.scale }
        : { ...made, whole: Math.max(a.whole, b.whole) + 1, scale: Math.max(a.scale, b.scale) }
    }
    if (kind === 3) return minus(a, (value) => negate(value, false))
    if (kind === 4) {
      const name = this.pick(['round', 'floor', 'ceiling'])
      const made = call('decimal', name, [a], ([value]) => roundTo(name, value!))
      return { ...made, whole: a.whole + a.scale }
    }
    const name = 'fractionalseconds'
    const part = call('decimal', name, [of('instant')], ([value]) => datePart(name, value!))
    return { ...part, whole: 0, scale: 6 }
  }

  #double(of: (type: Type) => Expression): Expression {
    const kind = this.below(4)
    if (kind === 0) return minus(this.#typed('double', of), (value) => negate(value, false))
    if (kind === 1) {
      const name = this.pick(['round', 'floor', 'ceiling'])
      return call('double', name, [of('double')], ([a]) => roundTo(name, a!))
    }
    if (kind === 2) {
      const sides = [this.#typed('int', of), this.#typed('int', of)] as const
      return binary('double', 'divby', ...sides, (a, b) => calculate('divby', a, b, true))
    }
    const operator = this.pick(['add', 'sub', 'mul', 'div', 'mod'])
    const other = this.pick<Type>(['double', 'int', 'decimal'])
    const sides = [this.#typed('double', of), this.#typed(other, of)] as const
    return binary('double', operator, ...sides, (a, b) => calculate(operator, a, b, false))
  }

  #text(of: (type: Type) => Expression): Expression {
    const kind = this.below(6)
    if (kind === 0) return call('text', 'tolower', [of('text')], ([a]) => inCase(a!, 'toLowerCase'))
    if (kind === 1) return call('text', 'toupper', [of('text')], ([a]) => inCase(a!, 'toUpperCase'))
    if (kind === 2) return call('text', 'trim', [of('text')], ([a]) => trim(a!))
    if (kind === 3) return call('text', 'concat', [of('text'), of('text')], join)
    const small = () => {
      const text = this.pick(['-3', '-1', '0', '1', '2', '9'])
      return this.#chance(0.8)
        ? constant('int', text, exact(text))
        : call('int', 'length', [of('text')], ([a]) => length(a!))
    }
    const count = this.pick(['0', '1', '5', '5', '9', '-1'])
    const counts = kind === 4 ? [] : [constant('int', count, exact(count))]
    const operands = [of('text'), small(), ...counts]
    return call('text', 'substring', operands, ([a, b, c]) => substring(a!, b!, c))
  }

  #duration(of: (type: Type) => Expression): Expression {
    const kind = this.below(4)
    if (kind === 0) return minus(this.#typed('duration', of), (value) => negate(value, false))
    const type = this.pick<Type>(['duration', 'day', 'instant'])
    const operator = type === 'duration' ? this.pick(['add', 'sub']) : 'sub'
    const sides = [this.#typed(type, of), this.#typed(type, of)] as const
    return binary('duration', operator, ...sides, (a, b) => durationOf(operator, a, b))
  }

  #time(type: Type, of: (type: Type) => Expression): Expression {
    if (type === 'clock') return call('clock', 'time', [of('instant')], ([a]) => clockOf(a!))
    if (type === 'day' && this.#chance(0.5))
      return call('day', 'date', [of('instant')], ([a]) => dayOf(a!))
    if (type !== 'instant' && type !== 'day') return this.#choice(type, of)
    const operator = this.pick(['add', 'sub'])
    const sides = [this.#typed(type, of), this.#typed('duration', of)] as const
    return binary(type, operator, ...sides, (a, b) => shift(operator, a, b))
  }
}
