import { userIdFrom } from '../domain/ledger/attribution.ts'
import { isJsonObject } from './json/parse-json.ts'

/** The fields of an OpenAI request that name its end user. The first one that names one counts, as at OpenAI. */
export const userFields = ['safety_identifier', 'user'] as const

type Body = Readonly<Record<string, unknown>>

/**
 * The end user of a request in OpenAI's form. Undefined if it names none, and for a value that the provider has to
 * refuse: the fields belong to it.
 */
export function openAiUserId(body: Body): string | undefined {
  return userIdFrom(body['safety_identifier']) ?? userIdFrom(body['user'])
}

/** The end user of a request in Anthropic's form, likewise. */
export function anthropicUserId({ metadata }: Body): string | undefined {
  return isJsonObject(metadata) ? userIdFrom(metadata['user_id']) : undefined
}
