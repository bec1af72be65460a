import type { ImageTokenPrices } from '../pricing/image-tokens.ts'
import type { ImageTariff, TextPricing, TextTariff, VideoTariff } from '../pricing/tariff.ts'
import type { TextTimeouts } from './text-timeouts.ts'
import type { FieldRules } from './field-rule.ts'
import type { ExtraOutputType } from '../jobs/output-types.ts'
import type { Params } from '../jobs/params.ts'
import type { EngineName } from './engines.ts'

export const modelKinds = ['chat', 'embedding', 'image', 'video'] as const
export type ModelKind = (typeof modelKinds)[number]

/**
 * Where a model's requests go. Upstreams with a lower `order` are tried first; within an order, `weight` is the share.
 */
export type Upstream<Cost = TextTariff | ImageTariff | VideoTariff> = {
  readonly provider: string
  /** The provider's own name for the model. */
  readonly model: string
  readonly order: number
  readonly weight: number
  /** The prices at which the provider bills the operator, for a cost that it does not report. For the operator only. */
  readonly cost?: Cost
}

type CommonSettings<Cost> = {
  /** The logical model name, in requests and replies. */
  readonly id: string
  readonly enabled: boolean
  readonly displayName: string
  readonly description: string
  readonly ownedBy: string
  readonly upstreams: readonly Upstream<Cost>[]
}

/** The kinds of parts that the messages of a request can have. */
export const inputKinds = ['text', 'image', 'file', 'audio'] as const
export type InputKind = (typeof inputKinds)[number]

/** How the requests and streams of a chat model are handled. */
export type ChatOptions = {
  /** The name of the fields below that the row leaves to it. Their values are already set. */
  readonly preset?: 'coding-agent'
  /** What the model reads. Text is always one of them. Absent: not known, and everything is passed on. */
  readonly inputs?: readonly InputKind[]
  /**
   * `note` replaces a part that the model does not read by a short text, where the request is converted. Absent: such a
   * request is refused.
   */
  readonly unsupportedInputs?: 'note'
  /**
   * `live` converts the streams of the messages route while they arrive. Absent: streams are synthetic, as in the
   * contract.
   */
  readonly messagesStream?: 'live'
  /**
   * `ask`: every chat stream asks the provider for its usage. `client`: only if the client does. Absent: as the
   * provider says.
   */
  readonly streamUsage?: 'ask' | 'client'
  /** Chat streams that are relayed byte for byte get heartbeats too. */
  readonly heartbeats?: true
}

type ChatSettings = CommonSettings<TextTariff> &
  TextTimeouts &
  FieldRules &
  ChatOptions & {
    readonly kind: 'chat'
    readonly pricing: TextPricing
    /** The output ceiling of a request without one, and the most output that is ever charged for one choice. */
    readonly maxOutputTokens: number
    readonly contextWindow?: number
    /** False if identical requests never share an answer. */
    readonly replays?: false
  }

type EmbeddingSettings = CommonSettings<TextTariff> &
  TextTimeouts &
  FieldRules & {
    readonly kind: 'embedding'
    readonly pricing: TextPricing
    readonly contextWindow?: number
    /** False if identical requests never share an answer. */
    readonly replays?: false
  }

/** The value sets of a media model by field name: the allowlist of fields that reach the provider. */
export type MediaParams = Readonly<Record<string, readonly string[]>>

/**
 * Parameters that the provider gets with every request, such as a resolution or a tier. They replace those of the
 * request. A `duration`, in seconds, pins the length of every clip.
 */
export type FixedParams = Params & { readonly duration?: number }

type MediaSettings = {
  readonly params: MediaParams
  readonly fixedParams: FixedParams
  /** Formats that results may have besides the usual ones. */
  readonly outputTypes?: readonly ExtraOutputType[]
}

type ImageSettings = CommonSettings<ImageTariff> &
  MediaSettings & {
    readonly kind: 'image'
    readonly pricing: ImageTariff
    /** The prices at which the provider bills the operator for the tokens of its answers. For the operator only. */
    readonly providerPrices?: ImageTokenPrices
  }

type VideoSettings = CommonSettings<VideoTariff> &
  Omit<MediaSettings, 'fixedParams'> & {
    readonly kind: 'video'
    readonly engine: EngineName
    readonly pricing: VideoTariff
    /** A pinned duration is one of those that the engine allows. */
    readonly fixedParams: FixedParams
    readonly holdDurationSeconds: number
  }

/** A model as an operator writes it. */
export type ModelSettings = ChatSettings | EmbeddingSettings | ImageSettings | VideoSettings

type Lacking = 'pricing' | 'maxOutputTokens'
type Unfinished<Settings> = Settings extends ModelSettings
  ? Omit<Settings, Lacking | 'enabled'> &
      Partial<Pick<Settings, Extract<keyof Settings, Lacking>>> & { readonly enabled: false }
  : never

/** A row without a price, or a chat row without an output ceiling. It is disabled and cannot be enabled. */
export type DraftSettings = Unfinished<ModelSettings>

/** A finished row or a draft, as an operator writes it. */
export type AnyModelSettings = ModelSettings | DraftSettings

type Stored = {
  /** When the store first had a row with this id. Edits keep it. */
  readonly createdAtMs: number
}

export type ChatModel = ChatSettings & Stored
export type EmbeddingModel = EmbeddingSettings & Stored
export type ImageModel = ImageSettings & Stored
export type VideoModel = VideoSettings & Stored

export type TextModel = ChatModel | EmbeddingModel
export type MediaModel = ImageModel | VideoModel
export type Model = TextModel | MediaModel
export type ModelDraft = DraftSettings & Stored

/** Whether a row has everything it needs to be served. A row that does not is a draft. */
export function isFinished(row: AnyModelSettings): row is ModelSettings {
  return row.pricing !== undefined && (row.kind !== 'chat' || row.maxOutputTokens !== undefined)
}
