// Writes FlatBuffers, in which Arrow describes what follows: from the end to the beginning, so that what is referred to is
// there before what refers to it. A place is a distance from the end, since the beginning moves.

const FIRST_BYTES = 1024
/** More than the largest table here takes besides what it refers to. */
const MARGIN_BYTES = 128

/** A field of a table: its value, and how many bytes that takes; `to` is a place that is referred to. */
export type FlatField =
  { readonly bytes: 1 | 2 | 4 | 8; readonly value: number } | { readonly to: number } | null

export class FlatBuilder {
  #bytes = Buffer.alloc(FIRST_BYTES)
  #start = FIRST_BYTES

  text(text: string): number {
    const bytes = Buffer.from(text)
    this.#room(4, bytes.length + 1)
    this.#write(1, 0)
    this.#start -= bytes.length
    bytes.copy(this.#bytes, this.#start)
    return this.#write(4, bytes.length)
  }

  /** A list of tables or texts. */
  list(places: readonly number[]): number {
    this.#room(4, 4 * places.length)
    for (const place of places.toReversed()) this.#refer(place)
    return this.#write(4, places.length)
  }

  /** A list of structs, each of two long integers. */
  pairs(numbers: readonly number[]): number {
    this.#room(4, 8 * numbers.length)
    this.#room(8, 8 * numbers.length)
    for (const number of numbers.toReversed()) this.#write(8, number)
    return this.#write(4, numbers.length / 2)
  }

  table(fields: readonly FlatField[]): number {
    const end = this.#place
    const places = fields.map((field) => {
      if (field === null) return 0
      if ('to' in field) {
        this.#room(4, 0)
        return this.#refer(field.to)
      }
      this.#room(field.bytes, 0)
      return this.#write(field.bytes, field.value)
    })
    this.#room(4, 0)
    const table = this.#write(4, 0)
    for (const place of places.toReversed()) this.#write(2, place === 0 ? 0 : table - place)
    this.#write(2, table - end)
    const description = this.#write(2, 2 * (fields.length + 2))
    this.#bytes.writeInt32LE(description - table, this.#bytes.length - table)
    return table
  }

  /** All of it, in a multiple of eight bytes. */
  finish(root: number): Buffer {
    this.#room(8, 4)
    this.#refer(root)
    return this.#bytes.subarray(this.#start)
  }

  get #place(): number {
    return this.#bytes.length - this.#start
  }

  /** Fills up, so that what is `more` bytes further on begins at a multiple of `size` from the end. */
  #room(size: number, more: number): void {
    const filling = -(this.#place + more) & (size - 1)
    const wanted = filling + more + MARGIN_BYTES
    while (this.#start < wanted) {
      const bytes = Buffer.alloc(2 * this.#bytes.length)
      this.#bytes.copy(bytes, this.#bytes.length)
      this.#start += this.#bytes.length
      this.#bytes = bytes
    }
    this.#start -= filling
  }

  #write(bytes: 1 | 2 | 4 | 8, value: number): number {
    this.#start -= bytes
    if (bytes === 8) this.#bytes.writeBigInt64LE(BigInt(value), this.#start)
    else this.#bytes.writeIntLE(value, this.#start, bytes)
    return this.#place
  }

  /** What stands there is how far away that place is. */
  #refer(to: number): number {
    return this.#write(4, this.#place + 4 - to)
  }
}
