// A file in the browser of whoever works at this machine.

import { spawn } from 'node:child_process'
import { EnvironmentError } from '../core/failures.ts'

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Throws EnvironmentError where nothing can show it. */
export async function openInBrowser(path: string): Promise<void> {
  const [program, ...words] = openers[process.platform] ?? ['xdg-open']
  const child = spawn(program, [...words, path], { stdio: 'ignore', detached: true })
  const problem = await new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code) => resolve(code === 0 ? null : `${program} ended with ${code}`))
  })
  if (problem === null) return
  throw new EnvironmentError('no-browser', `the file cannot be shown: ${problem}`, {
    hint: `open ${path} yourself`,
  })
}
