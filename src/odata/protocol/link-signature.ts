// The secret by which the service knows the links that it has made. A token in a link tells where to read on; one that
// a client made up or carried over to another request would read rows in a wrong order, so each is signed.
//
// The secret is a file of the state directory, so that links outlive a restart of the service, and services that share
// the file take each other's links. The file is valid if and only if it is 64 hexadecimal digits and a line feed, and
// nobody but its owner can read or write it (on Windows, where modes say nothing, the text alone counts). A file that is
// not valid is replaced, and with it all links given before are 400.

import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { link, open, rename, unlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeDirectory } from '../../files/durable-files.ts'
import type { Logger } from '../../core/logger.ts'

const SECRET_BYTES = 32
/** Rights of the group and of everybody. */
const OTHERS = 0o077
/** A forger has one try in 2^96. */
const SIGNATURE_BYTES = 12

export interface LinkSigner {
  /** Another one for each secret, which it does not tell. */
  readonly mark: string
  /** Made of characters that a URL takes as they are. */
  readonly sign: (text: string) => string
  readonly isSigned: (text: string, signature: string) => boolean
  /** For those who see something else: links of one are not links of another. Itself for an empty key. */
  readonly of: (reader: string) => LinkSigner
}

export function createLinkSigner(secret: Buffer = randomBytes(SECRET_BYTES)): LinkSigner {
  const sign = (text: string) =>
    createHmac('sha256', secret)
      .update(text)
      .digest()
      .subarray(0, SIGNATURE_BYTES)
      .toString('base64url')
  const signer: LinkSigner = {
    mark: sign('mark'),
    sign,
    of: (reader) =>
      reader === ''
        ? signer
        : createLinkSigner(createHmac('sha256', secret).update(reader).digest()),
    isSigned: (text, signature) => {
      const [right, given] = [Buffer.from(sign(text)), Buffer.from(signature)]
      return right.length === given.length && timingSafeEqual(right, given)
    },
  }
  return signer
}

/** The signer of this state directory. */
export async function openLinkSigner(path: string, logger: Logger): Promise<LinkSigner> {
  return createLinkSigner(await openLinkSecret(path, logger))
}

/** Where nothing can be written, links end with the process, and the log says so. */
export async function openLinkSecret(path: string, logger: Logger): Promise<Buffer> {
  try {
    return await readSecret(path, logger)
  } catch (error) {
    logger.warn('link-secret-unwritable', { path, error })
    return randomBytes(SECRET_BYTES)
  }
}

async function readSecret(path: string, logger: Logger): Promise<Buffer> {
  const known = await readIfValid(path, logger)
  if (known !== null) return known
  await makeDirectory(dirname(path))
  const draft = `${path}.${randomUUID()}`
  const text = `${randomBytes(SECRET_BYTES).toString('hex')}\n`
  await writeFile(draft, text, { flag: 'wx', mode: 0o600 })
  try {
    // When two services start at once, one makes the file and both read it.
    await link(draft, path)
    await unlink(draft)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if ((await readIfValid(path)) === null) await rename(draft, path)
    else await unlink(draft)
  }
  return (await readIfValid(path)) ?? Buffer.from(text.trim(), 'hex')
}

async function readIfValid(path: string, logger?: Logger): Promise<Buffer | null> {
  try {
    await using file = await open(path)
    const { mode } = await file.stat()
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
      // Others may know it by now, so taking the rights away would not do.
      logger?.warn('link-secret-exposed', { path, mode: (mode & 0o777).toString(8) })
      return null
    }
    const text = await file.readFile('utf8')
    return /^[0-9a-f]{64}\n$/.test(text) ? Buffer.from(text.trim(), 'hex') : null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
