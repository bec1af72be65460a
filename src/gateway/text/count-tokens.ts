import { mayUseModel } from '../../domain/accounts/key-access.ts'
import { findModel, type Catalog } from '../../domain/catalog/catalog.ts'
import { parseJsonObject } from '../../protocol/json/parse-json.ts'
import { readCountTokensRequest } from '../../protocol/messages/count-tokens.ts'
import { admitRead } from '../admission/admit-caller.ts'
import type { Limits } from '../ports/ledger/limits.ts'
import { modelNotFound } from '../admission/callable-model.ts'
import type { TextCall } from './text-call.ts'
import type { CompleteAnswer } from './text-result.ts'

/**
 * Estimates the input tokens of a messages request for any enabled model of the catalog that the key may call. Nothing
 * is charged. Rejects with `model_not_found` for any other name, and with the errors of `readCountTokensRequest`.
 */
export async function countTokens(
  { body, caller, record }: TextCall,
  catalog: Catalog,
  limits: Pick<Limits, 'countRead'>,
): Promise<CompleteAnswer> {
  const { model: name, inputTokens } = readCountTokensRequest(parseJsonObject(body))
  const model = findModel(catalog, name)
  if (model === undefined || !model.enabled || !mayUseModel(caller.apiKey.settings, model))
    throw modelNotFound(name, { catalog, caller, isSandboxOn: true, kind: undefined })
  record.model = model.id
  await admitRead(caller, record, limits)
  return {
    kind: 'answer',
    model: model.id,
    contentType: 'application/json',
    body: JSON.stringify({ input_tokens: inputTokens }),
    rateLimits: [],
    retryAfter: undefined,
    usage: null,
    cost: null,
  }
}
