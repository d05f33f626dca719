// A question to the person at the terminal.

import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'

/** null: there was no answer, because of Ctrl-C or Ctrl-D. */
export async function answerTo(question: string): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const left = once(terminal, 'close').then(() => null)
  try {
    return await Promise.race([terminal.question(question), left])
  } catch (error) {
    if ((error as Error).name === 'AbortError') return null
    throw error
  } finally {
    terminal.close()
  }
}
