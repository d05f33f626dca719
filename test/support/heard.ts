// What this process writes to stderr while it does something.

export async function heard<T>(work: () => Promise<T>): Promise<{ result: T; text: string }> {
  const write = process.stderr.write.bind(process.stderr)
  let text = ''
  process.stderr.write = (chunk: string | Uint8Array) => {
    text += String(chunk)
    return true
  }
  try {
    return { result: await work(), text }
  } finally {
    process.stderr.write = write
  }
}
