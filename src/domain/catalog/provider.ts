import type { FieldRule } from './field-rule.ts'
import { mediaKinds } from './media-kinds.ts'
import type { TextModel } from './model.ts'
import type { NanoUsd } from '../money.ts'
import type { TextTimeouts } from './text-timeouts.ts'

export const openAiRoutes = ['chat', 'responses', 'embeddings'] as const
export type OpenAiRoute = (typeof openAiRoutes)[number]
/** The routes an upstream can offer. A messages request goes upstream as chat unless the upstream offers `messages`. */
export type TextRoute = OpenAiRoute | 'messages'

/** The rules for the rows of one kind of image or video provider. */
export type MediaKindRules = {
  /** Its `api_key` is an access key and a secret key. */
  readonly hasKeyPair?: boolean
  /** Where its API is, if the row does not say. */
  readonly baseUrl?: string
  /** The header of its key, if it is not `authorization`. Its rows cannot have this header. */
  readonly keyHeader?: string
  /** Its answers state the cost of a job in credits, so its rows can say what a credit costs. */
  readonly reportsCredits?: boolean
}

export type MediaKind = keyof typeof mediaKinds

const routesByKind = {
  sandbox: openAiRoutes,
  'openai-compatible': openAiRoutes,
  anthropic: ['messages'],
} as const satisfies Readonly<Record<string, readonly TextRoute[]>>

export type ProviderKind = keyof typeof routesByKind | MediaKind
export const providerKinds = [
  ...(Object.keys(routesByKind) as (keyof typeof routesByKind)[]),
  ...(Object.keys(mediaKinds) as MediaKind[]),
] as const satisfies readonly ProviderKind[]

/** The rules for the rows of a kind. Undefined for the kinds that serve text. */
export function mediaKindRules(kind: ProviderKind): MediaKindRules | undefined {
  return isMediaKind(kind) ? mediaKinds[kind] : undefined
}

/** The text routes that providers of a kind can offer. None for the kinds that make images or videos only. */
export function routesOf(kind: ProviderKind): readonly TextRoute[] {
  return isMediaKind(kind) ? [] : routesByKind[kind]
}

function isMediaKind(kind: ProviderKind): kind is MediaKind {
  return Object.hasOwn(mediaKinds, kind)
}

/** The connect limit of a provider whose row has none. */
export const CONNECT_TIMEOUT_MS = 5000

/** Fields of a composed chat request that a provider may not know. */
export const omittableFields = [
  'metadata',
  'temperature',
  'top_p',
  'stop',
  'parallel_tool_calls',
  'stream_options',
] as const
export type OmittableField = (typeof omittableFields)[number]

/**
 * The prices at which a provider bills the operator, for a cost that it does not report. The sandbox bills nothing,
 * unless its row says otherwise. Undefined if the prices are not known.
 */
export function costOf<Cost>(
  { cost }: { readonly cost?: Cost },
  { kind }: Pick<Provider, 'kind'>,
  free: Cost,
): Cost | undefined {
  return cost ?? (kind === 'sandbox' ? free : undefined)
}

/** The units of a provider's own cost, each with the position of its last digit: a cent is 10^-2 dollars. */
export const costUnits = { usd: 0, cents: 2, ticks: 10 } as const
export type CostUnit = keyof typeof costUnits

/** Whether a provider of images or videos may get the links of clients. */
export const sendLinksWords = ['always', 'never'] as const

export const maxTokensFields = ['max_tokens', 'max_completion_tokens'] as const

/** Where a provider's key comes from. A literal key is stored encrypted and never shown again. */
export type ProviderSecret =
  | { readonly from: 'none' }
  | { readonly from: 'environment'; readonly variable: string }
  /** An access key and a secret key. Together they are one key, with a comma between them. */
  | { readonly from: 'environment_pair'; readonly variables: readonly [access: string, secret: string] }
  | { readonly from: 'literal'; readonly value: string }
  /** A stored literal key that can no longer be decrypted. The provider cannot be called until it gets a new key. */
  | { readonly from: 'lost' }

const ENVIRONMENT = 'env:'

/** The environment variable that a header's value names; undefined for a literal value. */
export function headerVariable(value: string): string | undefined {
  return value.startsWith(ENVIRONMENT) ? value.slice(ENVIRONMENT.length) : undefined
}

/** The environment variables that the key and the headers of a provider are read from. */
export function variablesOf({ secret, headers }: Pick<Provider, 'secret' | 'headers'>): readonly string[] {
  const ofHeaders = Object.values(headers).flatMap(value => headerVariable(value) ?? [])
  return [...keyVariables(secret), ...ofHeaders]
}

function keyVariables(secret: ProviderSecret): readonly string[] {
  if (secret.from === 'environment') return [secret.variable]
  return secret.from === 'environment_pair' ? secret.variables : []
}

export type Provider = TextTimeouts & {
  readonly id: string
  readonly kind: ProviderKind
  /** Without a trailing slash. Absent for the sandbox, which runs inside the gateway. */
  readonly baseUrl?: string
  readonly secret: ProviderSecret
  /**
   * The header with the key, in lower case. Absent: the header of the kind. `authorization` sends the key as a bearer
   * token.
   */
  readonly apiKeyHeader?: string
  /** Extra request headers, by lower-case name. A value `env:NAME` stands for an environment variable. */
  readonly headers: Readonly<Record<string, string>>
  readonly routes: readonly TextRoute[]
  /**
   * The field for the output ceiling in a chat request that the gateway writes itself, for a converted messages
   * request.
   */
  readonly maxTokensField: (typeof maxTokensFields)[number]
  /** Fields that are left out of chat requests that the gateway writes itself. Absent for none. */
  readonly omitFields?: readonly OmittableField[]
  /** Requests that may not go to this provider. Absent if all may. */
  readonly refuseFields?: readonly FieldRule[]
  /** The response header with the provider's own cost. */
  readonly costHeader?: string
  /**
   * The path of the provider's own cost in its answers, such as `usage.estimated_cost`. Absent: `usage.cost`, as
   * OpenRouter reports it.
   */
  readonly costField?: string
  /** The unit of the cost in the header and in the field. Absent for dollars. */
  readonly costUnit?: CostUnit
  /** `gemini`: thinking is counted only in `total_tokens`. */
  readonly usageStyle?: 'gemini'
  /** The provider bills requests that it refuses for this reason. Absent if it bills no refused request. */
  readonly billsRefused?: 'content_filter'
  /** Whether the links of clients may be sent to it. Absent: unless its base URL is in a private network. */
  readonly sendLinks?: (typeof sendLinksWords)[number]
  /** The price of one credit, or of another unit of the provider's reported costs. Absent if it is not known. */
  readonly creditUsd?: NanoUsd
  /** The values of `anthropic-beta` that may reach the provider. Absent if all may. */
  readonly betas?: readonly string[]
  /** The limit for opening a connection, TCP and TLS together. */
  readonly connectTimeoutMs: number
  /** `ask`: every chat stream asks for its usage, even if the client does not. */
  readonly streamUsage?: 'ask'
  /**
   * True if the provider bills an aborted call in full. A stream whose client disconnects is then read to its end, and
   * its real cost is charged.
   */
  readonly finishAborted?: true
  /** 0 if a request is never sent to this provider a second time. */
  readonly retries?: 0
  /** False if clients do not get the headers with this provider's rate limits. */
  readonly passRateLimits?: false
  /** Whether a request may use the connection of an earlier one. */
  readonly reusesConnections: boolean
}

/**
 * Whether the provider is asked for the usage of every chat stream of a model. A model's `stream_usage` replaces that
 * of its provider, but does not ask a provider that does not know the field.
 */
export function asksForUsage(
  model: TextModel,
  { streamUsage: ofProvider, omitFields }: Pick<Provider, 'streamUsage' | 'omitFields'>,
): boolean {
  const ofModel = model.kind === 'chat' ? model.streamUsage : undefined
  if (ofModel === undefined) return ofProvider === 'ask'
  if (ofModel === 'client') return false
  return ofProvider === 'ask' || omitFields?.includes('stream_options') !== true
}

/** The part of an account that decides which providers it may reach. */
export type Reaching = { readonly sandboxOnly: boolean }

export type SandboxSwitch = { readonly isSandboxOn: boolean }

/** Whether the requests of an account may be sent to a provider. A sandbox-only account reaches only the sandbox. */
export function mayReach(
  { kind }: Pick<Provider, 'kind'>,
  { sandboxOnly }: Reaching,
  { isSandboxOn }: SandboxSwitch,
): boolean {
  return kind === 'sandbox' ? isSandboxOn : !sandboxOnly
}

/** Whether a request that this provider failed may be sent to it again. The sandbox fails because it was asked to. */
export function mayRetry({ kind, retries }: Pick<Provider, 'kind' | 'retries'>): boolean {
  return kind !== 'sandbox' && retries === undefined
}

/** A provider as an operator writes it. An export omits literal keys, so its import keeps the stored one. */
export type ProviderSettings = Omit<Provider, 'secret'> & {
  readonly secret: ProviderSecret | { readonly from: 'keep' }
}
