// A lake of a test as the paths of a project have it.

import type { LakeSettings } from '../../../src/core/lake.ts'
import { lakeSettings } from '../../../src/project/lake-settings.ts'
import { type SettingValues, settings } from '../../../src/project/settings.ts'
import type { TestLake } from './with-lake.ts'

export function lakeSettingsOf(lake: Pick<TestLake, 'settings' | 'env'>): LakeSettings {
  const given: Record<string, string> = { 'lake.schema': 'shop' }
  for (const [name, value] of Object.entries(lake.settings)) given[`lake.${name}`] = value
  for (const [name, setting] of Object.entries(settings)) {
    const value = 'env' in setting ? lake.env[setting.env] : undefined
    if (value !== undefined) given[name] = value
  }
  const defaults = Object.entries(settings).map(([name, setting]) => [name, setting.default])
  const values = { ...Object.fromEntries(defaults), ...given } as unknown as SettingValues
  return lakeSettings('shop', '/', values)
}
