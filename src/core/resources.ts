// Things with a lifetime, closed in reverse order of opening. (Node 20 has no AsyncDisposableStack.)

type Close = () => void | PromiseLike<void>

/** Several resources owned as one. Disposing closes them all, also when one fails to close; the first failure is thrown. */
export class Resources implements AsyncDisposable {
  #closes: Close[] = []

  /** Takes ownership of `resource` and returns it. */
  use<T extends AsyncDisposable>(resource: T): T {
    this.defer(() => resource[Symbol.asyncDispose]())
    return resource
  }

  defer(close: Close): void {
    this.#closes.push(close)
  }

  /** Hands all that is owned over to a new owner; this one then owns nothing. */
  move(): Resources {
    const moved = new Resources()
    moved.#closes = this.#closes
    this.#closes = []
    return moved
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = []
    for (let close = this.#closes.pop(); close !== undefined; close = this.#closes.pop()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
