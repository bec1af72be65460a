import type { TextModel } from '../../src/domain/catalog/model.ts'
import { usd } from '../../src/domain/money.ts'
import type { TextPricing } from '../../src/domain/pricing/tariff.ts'
import { quoteText } from '../../src/gateway/text/quote-text.ts'
import { NO_PRICED_FEATURES } from '../../src/protocol/request-features.ts'
import type { TextRequest } from '../../src/protocol/text-dialect.ts'

/** 0.001 USD for an input token, 0.002 USD for an output token and 0.01 USD for a request. */
export const TARIFF = { input: usd('1000'), output: usd('2000'), perRequest: usd('0.01') }
export const tariff: TextPricing = { kind: 'tariff', tariff: TARIFF }
export const free: TextPricing = { kind: 'free' }
export const upstreamCost = {
  kind: 'upstream_cost',
  markupBillionths: 1_500_000_000n,
  ceiling: TARIFF,
} as const satisfies TextPricing

export function aModel(pricing: TextPricing, kind: 'chat' | 'embedding' = 'chat'): TextModel {
  const common = {
    id: 'm',
    enabled: true,
    displayName: 'M',
    description: '',
    ownedBy: 'system',
    upstreams: [],
    pricing,
    createdAtMs: 0,
  }
  return kind === 'chat' ? { ...common, kind, maxOutputTokens: 100 } : { ...common, kind }
}

export function aRequest(change: Partial<TextRequest> = {}): TextRequest {
  return {
    model: 'm',
    isStream: false,
    outputCeiling: undefined,
    choices: 1,
    inputTokensEstimate: 10,
    input: () => ({ texts: [], tokens: 0 }),
    prompt: () => '',
    ...change,
  }
}

export const featuresOfTier = (serviceTier: string) => ({ ...NO_PRICED_FEATURES, serviceTier })

export const quote = (pricing: TextPricing, change?: Partial<TextRequest>) =>
  quoteText(aModel(pricing), aRequest(change))
