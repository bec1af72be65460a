import { EMPTY_CATALOG, type Catalog } from '../../src/domain/catalog/catalog.ts'
import type { ChatModel } from '../../src/domain/catalog/model.ts'
import type { Provider } from '../../src/domain/catalog/provider.ts'
import { usd } from '../../src/domain/money.ts'
import { NO_USAGE } from '../../src/domain/pricing/usage.ts'
import type { AdmittedRequest } from '../../src/gateway/text/admit-text.ts'
import type { AttemptFailure, AttemptResult } from '../../src/gateway/upstreams/attempt-result.ts'
import type { Destination } from '../../src/gateway/upstreams/destinations.ts'
import { quoteText } from '../../src/gateway/text/quote-text.ts'
import type { TextProvider } from '../../src/gateway/ports/providers/text-provider.ts'
import { NO_FEATURES } from '../../src/protocol/usage.ts'
import { chatDialect } from '../../src/protocol/chat/dialect.ts'
import { readRetryAfter } from '../../src/providers/http/read-answer.ts'
import { sentText } from './sent-text.ts'
import { parseJsonObject } from '../../src/protocol/json/parse-json.ts'
import { anId } from './ledger-builders.ts'

/** An upstream at a provider with this name. */
export function aDestination(id: string, { order = 1, weight = 1 } = {}): Destination {
  const provider: Provider = {
    id,
    kind: 'openai-compatible',
    baseUrl: `https://${id}.example.com/v1`,
    secret: { from: 'none' },
    headers: {},
    routes: ['chat'],
    maxTokensField: 'max_tokens',
    connectTimeoutMs: 5000,
    reusesConnections: true,
  }
  return { provider, upstream: { provider: id, model: `${id}-model`, order, weight }, adapter: notCalled }
}

const notCalled: TextProvider = {
  complete: () => Promise.reject(new Error('not called')),
  stream: () => Promise.reject(new Error('not called')),
}

/** A catalog with one model on these upstreams. */
export function aCatalogOf(destinations: readonly Destination[]): Catalog {
  const model = aModelOn(destinations)
  return {
    ...EMPTY_CATALOG,
    providers: new Map(destinations.map(({ provider }) => [provider.id, provider])),
    models: new Map([[model.id, model]]),
  }
}

export function aModelOn(destinations: readonly Destination[]): ChatModel {
  return {
    id: 'gpt-x',
    enabled: true,
    displayName: 'GPT X',
    description: '',
    ownedBy: 'system',
    kind: 'chat',
    pricing: { kind: 'tariff', tariff: { input: usd('2'), output: usd('10') } },
    maxOutputTokens: 100,
    upstreams: destinations.map(({ upstream }) => upstream),
    createdAtMs: 0,
  }
}

/** An admitted chat request for a model on these upstreams. */
export function anAdmittedRequest(
  destinations: readonly Destination[],
  payer: { readonly accountId: number; readonly apiKeyId: number } = { accountId: 1, apiKeyId: 1 },
): AdmittedRequest {
  const body = sentText('{"model":"gpt-x","messages":[{"role":"user","content":"Hello"}]}')
  const request = chatDialect.readRequest(parseJsonObject(body))
  const model = aModelOn(destinations)
  const quote = quoteText(model, request)
  const id = anId()
  const { accountId, apiKeyId } = payer
  const account = {
    id: accountId,
    publicId: 'acct_1',
    name: 'ada',
    sandboxOnly: false,
    createdAtMs: 0,
    suspendedAtMs: null,
  }
  const key = {
    publicId: 'key_1',
    accountId,
    name: '',
    prefix: 'tg_live_abcd',
    secrets: [],
    createdAtMs: 0,
    revokedAtMs: null,
    disabledAtMs: null,
    lastUsedDay: null,
  }
  return {
    call: {
      id,
      caller: { account, apiKey: { id: apiKeyId, ...key } },
      body,
      client: new AbortController(),
      record: {},
    },
    hasRateLimits: false,
    dialect: chatDialect,
    request,
    model,
    destinations,
    quote,
    hold: { id, accountId, kind: 'text', amount: quote.amount },
  }
}

export function aFailure(reason: AttemptFailure['reason'] = 'server', retryAfter?: string): AttemptFailure {
  return {
    kind: 'failure',
    reason,
    problem: `a ${reason} problem`,
    ...(retryAfter === undefined ? {} : { retryAfter: readRetryAfter(retryAfter) }),
  }
}

export function anAnswer({ isEmpty = false } = {}): Extract<AttemptResult, { kind: 'answer' }> {
  const usage = { ...NO_USAGE, input: 1 }
  return {
    kind: 'answer',
    status: 200,
    answer: {
      usage,
      isClamped: false,
      reportedCost: null,
      isEmpty,
      hasError: false,
      features: NO_FEATURES,
      texts: () => [],
    },
    outcome: { outcome: 'answered', status: 200, reportedCost: null, body: '' },
  }
}

export function aRefusal(): Extract<AttemptResult, { kind: 'refusal' }> {
  const { outcome } = anAnswer()
  return { kind: 'refusal', status: 400, outcome: { ...outcome, status: 400 } }
}
