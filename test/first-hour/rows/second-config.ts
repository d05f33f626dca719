// What is written into eider.yml and .env by somebody who has run servers before.

import type { Mistake } from '../mistake.ts'

const yml = (text: string) => ({ 'eider.yml': `name: shop\n${text}` })
const proxy = 'a reverse proxy in front of eider does TLS (docs/guides/deploy.md)'

const webhook = `collect:
  webhooks:
    - name: hub
      target: raw.orders
      signature: github
      secret: \${HUB_SECRET}
`

export const rows: readonly Mistake[] = [
  ...['odata.ssl', 'odata.tls_cert', 'collect.https', 'odata.certificate'].map((key): Mistake => {
    const [group, name] = key.split('.')
    return {
      id: `s59-${key}`,
      mistake: `TLS of its own: ${key}`,
      files: yml(`${group}:\n  ${name}: true\n`),
      answer: `
        eider.yml:3:3 error config-unknown-key: no setting "${key}"
        hint: ${proxy}`,
      grade: 'A',
    }
  }),
  {
    id: 's59-path',
    mistake: 'a path for the service',
    files: yml('odata:\n  path: /data\n'),
    answer: `
      eider.yml:3:3 error config-unknown-key: no setting "odata.path"
      hint: the path is /odata; a reverse proxy puts another before it, with odata.trust_proxy (docs/guides/deploy.md)`,
    grade: 'A',
  },
  {
    id: 's59-backslash',
    mistake: 'a path of Windows in double quotes',
    files: yml('sources:\n  shop:\n    tables:\n      t:\n        file: "C:\\data\\t.csv"\n'),
    answer: `
      eider.yml:6:18 error config-syntax: this is not valid YAML: Invalid escape sequence \\d
      hint: in double quotes a \\ begins an escape: write the text in single quotes, or a path with /`,
    grade: 'A',
  },
  {
    id: 's58',
    mistake: 'a webhook whose secret is set nowhere',
    files: yml(webhook),
    ask: { eider: ['collect', 'daemon', '--port', '0'] },
    answer: `
      eider.yml:7:15 error secret-not-set: "collect.webhooks.secret" needs HUB_SECRET, which is not set
      7 |       secret: \${HUB_SECRET}
      |               ^^^^^^^^^^^^^
      hint: set HUB_SECRET in the environment or in .env
      1 error`,
    exitCode: 1,
    grade: 'A',
  },
]
