export const textRoutes = ['chat', 'responses', 'embeddings'] as const
/** The routes an upstream can offer. A messages request goes upstream as chat. */
export type TextRoute = (typeof textRoutes)[number]

export const providerKinds = ['sandbox', 'openai-compatible'] as const
export type ProviderKind = (typeof providerKinds)[number]

export const maxTokensFields = ['max_tokens', 'max_completion_tokens'] as const

/** Where a provider's key comes from. A literal is kept encrypted at rest and never shown again. */
export type ProviderSecret =
  | { readonly from: 'none' }
  | { readonly from: 'environment'; readonly variable: string }
  | { readonly from: 'literal'; readonly value: string }
  /** A literal that was stored, and that nobody can read any more. The provider cannot be called until it has another. */
  | { readonly from: 'lost' }

export type Provider = {
  readonly id: string
  readonly kind: ProviderKind
  /** Without a slash at its end. Absent for the sandbox, which runs inside the gateway. */
  readonly baseUrl?: string
  readonly secret: ProviderSecret
  /** Extra request headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly routes: readonly TextRoute[]
  /** The name of the output ceiling in a chat request that the gateway itself writes (converted messages). */
  readonly maxTokensField: (typeof maxTokensFields)[number]
  /** The response header in which the provider reports its own cost in dollars, for `upstream_cost` rows. */
  readonly costHeader?: string
}

/** A provider as an operator writes it: an export names no literal, so what it says of one is `keep` what is stored. */
export type ProviderSettings = Omit<Provider, 'secret'> & {
  readonly secret: ProviderSecret | { readonly from: 'keep' }
}
