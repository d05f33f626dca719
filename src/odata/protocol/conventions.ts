// What the settings of a service change of the language it speaks. All of it goes as one object from the service to where
// requests are bound, is declared in $metadata, and is part of each ETag.

export interface Conventions {
  /** Whether `orders/7` means `orders(7)` (URL conventions 4.3.6). */
  readonly keyAsSegment: boolean
  /** 'unnamed' when absent. */
  readonly geo?: GeoSupport
}

/**
 * Whether the geo functions are answered, for which the engine needs the extension spatial: that, or the project does not
 * name the extension, or it cannot be loaded.
 */
export type GeoSupport = 'served' | 'unnamed' | 'unloaded'

export const usualConventions: Conventions = { keyAsSegment: false }
