// A store that enforces rights: a bucket, users, and the policy that says what they may do.

import { spawn, spawnSync } from 'node:child_process'
import { createHash, createHmac } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { places } from './parts.ts'

const root = { keyId: 'root-key', secret: 'root-secret' }

export interface RightsStore extends AsyncDisposable {
  readonly endpoint: string
  /** Of the bucket: an object is a file of its name. */
  readonly directory: string
}

/** `users`: their keys are their names, their secrets `secret-of-NAME`. */
export async function openRightsStore(
  bucket: string,
  users: readonly string[],
  policy: string,
): Promise<RightsStore> {
  const directory = await temporaryDirectory()
  for (const name of ['data', 'users', join('data', bucket)]) mkdirSync(join(directory.path, name))
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}`
  const keys = ['--access', root.keyId, '--secret', root.secret]
  const args = ['--port', `127.0.0.1:${port}`, '--iam-dir', join(directory.path, 'users'), 'posix']
  const child = spawn(
    places.versitygw,
    [...keys, '--quiet', ...args, join(directory.path, 'data')],
    {
      stdio: 'ignore',
    },
  )
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  for (const until = Date.now() + 30_000; ;) {
    const answer = await fetch(endpoint).catch(() => null)
    if (answer !== null) break
    if (Date.now() > until) throw new Error('versitygw does not answer')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  for (const user of users) {
    const login = ['create-user', '--access', user, '--secret', secretOf(user), '--role', 'user']
    const options = ['admin', ...keys, '--endpoint-url', endpoint, ...login]
    const { status, stdout, stderr } = spawnSync(places.versitygw, options, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`versitygw create-user: ${stdout}${stderr}`)
  }
  await putPolicy(endpoint, bucket, policy)
  return {
    endpoint,
    directory: join(directory.path, 'data', bucket),
    async [Symbol.asyncDispose]() {
      process.off('exit', kill)
      kill()
      await ended
      await directory[Symbol.asyncDispose]()
    },
  }
}

export const secretOf = (user: string) => `secret-of-${user}`

/** A request with a signature of version 4, for which the engine has no statement. */
async function putPolicy(endpoint: string, bucket: string, policy: string): Promise<void> {
  const { host } = new URL(endpoint)
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const hmac = (key: string | Buffer, text: string) =>
    createHmac('sha256', key).update(text).digest()
  const names = 'host;x-amz-content-sha256;x-amz-date'
  const headers = `host:${host}\nx-amz-content-sha256:${sha256(policy)}\nx-amz-date:${time}\n`
  const canonical = ['PUT', `/${bucket}`, 'policy=', headers, names, sha256(policy)].join('\n')
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${root.secret}`)
  const signature = hmac(key, text).toString('hex')
  const answer = await fetch(`${endpoint}/${bucket}?policy=`, {
    method: 'PUT',
    body: policy,
    headers: {
      'X-Amz-Date': time,
      'X-Amz-Content-Sha256': sha256(policy),
      Authorization: `AWS4-HMAC-SHA256 Credential=${root.keyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    },
  })
  if (!answer.ok) throw new Error(`the policy is refused: ${answer.status} ${await answer.text()}`)
}
