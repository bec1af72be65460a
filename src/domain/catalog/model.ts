import type { ImagePricing, TextPricing, VideoPricing } from '../pricing/tariff.ts'

export const modelKinds = ['chat', 'embedding', 'image', 'video'] as const
export type ModelKind = (typeof modelKinds)[number]

/** Where a model's requests go. Upstreams of a lower `order` come first; within one order, `weight` is the share. */
export type Upstream = {
  readonly provider: string
  /** The provider's own name of the model. */
  readonly model: string
  readonly order: number
  readonly weight: number
}

type ModelCommon = {
  /** The logical model name: what clients send and get back. */
  readonly id: string
  readonly enabled: boolean
  readonly displayName: string
  readonly description: string
  readonly ownedBy: string
  readonly createdAtMs: number
  readonly upstreams: readonly Upstream[]
}

export type ChatModel = ModelCommon & {
  readonly kind: 'chat'
  readonly pricing: TextPricing
  /** The output ceiling of a request that names none; also the most output that is ever charged for one choice. */
  readonly maxOutputTokens: number
  readonly contextWindow?: number
}

export type EmbeddingModel = ModelCommon & {
  readonly kind: 'embedding'
  readonly pricing: TextPricing
  readonly contextWindow?: number
}

/** Named value sets of a media model: the allowlist of fields that reach the provider. */
export type MediaParams = Readonly<Record<string, readonly string[]>>

export type ImageModel = ModelCommon & {
  readonly kind: 'image'
  readonly pricing: ImagePricing
  readonly params: MediaParams
}

export type VideoModel = ModelCommon & {
  readonly kind: 'video'
  readonly engine: string
  readonly pricing: VideoPricing
  readonly params: MediaParams
  readonly fixedParams: { readonly duration?: number }
  readonly holdDurationSeconds: number
}

export type TextModel = ChatModel | EmbeddingModel
export type MediaModel = ImageModel | VideoModel
export type Model = TextModel | MediaModel
