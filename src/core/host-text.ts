// A host and a port as they stand in a URL.

/** An address of IPv6 has brackets there. */
export const hostAndPort = (host: string, port: number): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`
