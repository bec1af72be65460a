import { findModel, type Catalog } from '../../domain/catalog/catalog.ts'
import { parseJsonObject } from '../../protocol/json/parse-json.ts'
import { readCountTokensRequest } from '../../protocol/messages/count-tokens.ts'
import { modelNotFound } from './resolve-model.ts'
import type { TextCall, WholeReply } from './text-call.ts'

/**
 * Estimates the input tokens of a messages request, for any model of the catalog that is on, and charges nothing.
 * Throws `model_not_found` for any other name, and what `readCountTokensRequest` does.
 */
export async function countTokens({ body, caller, trace }: TextCall, catalog: Catalog): Promise<WholeReply> {
  const { model: name, inputTokens } = readCountTokensRequest(parseJsonObject(body))
  const model = findModel(catalog, name)
  if (model === undefined || !model.enabled) throw modelNotFound(name, caller)
  trace.model = model.id
  const reply = JSON.stringify({ input_tokens: inputTokens })
  return { status: 200, headers: {}, body: reply, cost: null }
}
