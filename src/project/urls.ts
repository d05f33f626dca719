// What eider.yml and the environment say as URLs.

import type { LakeStore } from '../core/lake.ts'

/**
 * Whether a text that is meant as a URL holds a password, also where it is none that can be parsed: one that has a slash
 * unescaped, or names it as libpq does.
 */
export const holdsPassword = (text: string): boolean =>
  /^[^/]*\/\/[^/?#@]*:.*@/.test(text) || /(?:^|[?&\s])\w*(?:password|passwd|pwd)\s*=/i.test(text)

/** `s3://bucket/prefix/`; null for what is not such a URL. */
export function parseStoreUrl(text: string): string | null {
  const [, bucket, prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(\/[^?#*\s]*)?$/.exec(text) ?? []
  if (bucket === undefined || prefix.split('/').slice(1, -1).includes('')) return null
  return `s3://${bucket}${prefix.replace(/\/?$/, '/')}`
}

/** The address of a store; null for what is not an http URL of a host alone. */
export function parseEndpoint(text: string): Pick<LakeStore, 'endpoint' | 'usesTls'> | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) return null
  const rest = [url.username, url.password, url.search, url.hash, url.pathname.slice(1)]
  if (rest.some((part) => part !== '')) return null
  return { endpoint: url.host, usesTls: url.protocol === 'https:' }
}

/** With a user it is refused by fetch(). */
export function isWebUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === ''
}
