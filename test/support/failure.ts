/** What the call fails with; null when it succeeds. */
export async function failure(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call()
    return null
  } catch (error) {
    return error
  }
}
