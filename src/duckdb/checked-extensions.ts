// Extensions whose signature the engine has checked in this process. To check one, the engine hashes its whole file, which
// for the three of a lake takes half a second of a processor, in each engine of a run. The code of a file that is loaded
// stays in this process, whatever becomes of its engine; so a file that is the same is not checked once more. What is
// put there between the look at the file and its load escapes this, as it escapes the engine's own check.

import { type Extensions, withRequired } from '../core/extensions.ts'
import { extensionFile, fileIdentity } from './extension-files.ts'

const checked = new Map<string, string>()
/** Two engines that open at once would check the same file twice. */
let checking: Promise<unknown> = Promise.resolve()

/**
 * Opens an engine by `open`, which loads the extensions; with `true` it may load them unchecked, since each is a file that
 * an engine of this process has loaded before, with a valid signature, and that has not changed.
 */
export async function openWithChecked<T>(
  extensions: Extensions | undefined,
  open: (isChecked: boolean) => Promise<T>,
): Promise<T> {
  if (extensions === undefined || extensions.names.length === 0) return open(false)
  const paths = withRequired(extensions.names).map((name) =>
    extensionFile(extensions.directory, name),
  )
  if (await areChecked(paths)) return open(true)
  const opening = checking.then(async () => {
    const before = await Promise.all(paths.map(fileIdentity))
    const isChecked = before.every((identity, i) => isKnown(paths[i]!, identity))
    const opened = await open(isChecked)
    const after = await Promise.all(paths.map(fileIdentity))
    for (const [i, path] of paths.entries()) {
      const identity = before[i]
      if (identity != null && identity === after[i]) checked.set(path, identity)
    }
    return opened
  })
  checking = opening.catch(() => {}) // its caller gets the error
  return opening
}

const areChecked = async (paths: readonly string[]): Promise<boolean> =>
  (await Promise.all(paths.map(async (path) => isKnown(path, await fileIdentity(path))))).every(
    Boolean,
  )

const isKnown = (path: string, identity: string | null): boolean =>
  identity !== null && checked.get(path) === identity
