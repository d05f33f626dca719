// A store that lists more than 1,000 objects, which s3rver cannot: its lists have no second page.

import { bucket } from './servers.ts'
import { openRightsStore, type RightsStore, secretOf } from './versitygw.ts'
import type { TestLake } from './with-lake.ts'

const KEY = 'everything'

const policy = {
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Principal: { AWS: [KEY] },
      Action: ['s3:*'],
      Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
    },
  ],
}

interface LargeStore extends RightsStore {
  /** The lake of a test with its objects in this store. */
  placeOf(lake: Pick<TestLake, 'settings' | 'env'>): Pick<TestLake, 'settings' | 'env'>
}

export async function openLargeStore(): Promise<LargeStore> {
  const store = await openRightsStore(bucket, [KEY], JSON.stringify(policy))
  return {
    ...store,
    placeOf: ({ settings, env }) => ({
      settings: { ...settings, s3_endpoint: store.endpoint },
      env: { ...env, LAKE_S3_KEY_ID: KEY, LAKE_S3_SECRET: secretOf(KEY) },
    }),
  }
}
