import { EMPTY_CATALOG, type Catalog } from '../../src/domain/catalog/catalog.ts'
import type { Model } from '../../src/domain/catalog/model.ts'
import type { Provider } from '../../src/domain/catalog/provider.ts'
import { NO_USAGE } from '../../src/domain/pricing/usage.ts'
import type { Verdict } from '../../src/gateway/judge-outcome.ts'
import type { Destination } from '../../src/gateway/servable-model.ts'

/** An upstream at a provider of that name. */
export function aDestination(id: string, { order = 1, weight = 1 } = {}): Destination {
  const provider: Provider = {
    id,
    kind: 'openai-compatible',
    baseUrl: `https://${id}.example.com/v1`,
    secret: { from: 'none' },
    headers: {},
    routes: ['chat'],
    maxTokensField: 'max_tokens',
  }
  return { provider, upstream: { provider: id, model: `${id}-model`, order, weight } }
}

/** A catalog with one model on these upstreams. */
export function aCatalogOf(destinations: readonly Destination[]): Catalog {
  const model: Model = {
    id: 'gpt-x',
    enabled: true,
    displayName: 'GPT X',
    description: '',
    ownedBy: 'system',
    kind: 'chat',
    pricing: { kind: 'free' },
    maxOutputTokens: 100,
    upstreams: destinations.map(({ upstream }) => upstream),
    createdAtMs: 0,
  }
  return {
    ...EMPTY_CATALOG,
    providers: new Map(destinations.map(({ provider }) => [provider.id, provider])),
    models: new Map([[model.id, model]]),
  }
}

type Failure = Extract<Verdict, { verdict: 'failure' }>

export function aFailure(reason: Failure['reason'] = 'server', retryAfterS?: string): Failure {
  return { verdict: 'failure', reason, retryAfterS, problem: `a ${reason} problem` }
}

export function anAnswer({ isEmpty = false } = {}): Extract<Verdict, { verdict: 'answer' }> {
  const usage = { ...NO_USAGE, input: 1 }
  return {
    verdict: 'answer',
    answer: { usage, isClamped: false, reportedCost: null, isEmpty, texts: () => [] },
    outcome: { outcome: 'answered', status: 200, headers: {}, reportedCost: null, body: new Uint8Array() },
  }
}

export function aRefusal(): Extract<Verdict, { verdict: 'refusal' }> {
  const { outcome } = anAnswer()
  return { verdict: 'refusal', outcome: { ...outcome, status: 400 } }
}
