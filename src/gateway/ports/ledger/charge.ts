import type { Attribution } from '../../../domain/ledger/attribution.ts'
import type { NanoUsd } from '../../../domain/money.ts'
import type { Provenance, Usage } from '../../../domain/pricing/usage.ts'
import type { ImageTokens } from '../../../domain/pricing/image-tokens.ts'
import type { ImageTariff, TextTariff, VideoTariff } from '../../../domain/pricing/tariff.ts'

/** A charge as it is recorded: with its frozen tariff, it can be recomputed without current prices. */
export type Charge = TextCharge | ImagesCharge | VideoCharge

type CommonCharge = Attribution & {
  readonly cost: NanoUsd
  /**
   * The cost of the result: the one that the provider reported, or else the result at the prices of the row's upstream.
   * Null if neither is known. For the operator only.
   */
  readonly providerCost: NanoUsd | null
  readonly route: string
  readonly apiKeyId: number
  readonly model: string
  readonly provider: string
  readonly atMs: number
}

export type TextCharge = CommonCharge & {
  readonly kind: 'text'
  readonly usage: Usage
  readonly provenance: Provenance
  /** True if an impossible part of the reported usage was clamped. */
  readonly isClamped: boolean
  /** The cached input of an estimate, which an earlier request suggests. Absent for none, as in most charges. */
  readonly assumedCached?: number
  /** Null for free rows and for the upstream's own cost as it reported it. */
  readonly tariff: TextTariff | null
}

export type ImagesCharge = CommonCharge & {
  readonly kind: 'images'
  readonly images: number
  /** The tokens of the answer, of a model that is priced by them. */
  readonly tokens?: ImageTokens
  readonly tariff: ImageTariff
}

export type VideoCharge = CommonCharge & {
  readonly kind: 'video'
  /** The part of the clip that is charged. */
  readonly durationMs: number
  readonly tariff: VideoTariff
}
