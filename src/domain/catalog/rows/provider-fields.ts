import { mediaKindRules, type MediaKind, type ProviderKind } from '../provider.ts'
import { costFields } from './provider-costs.ts'
import { textTimeoutFields } from './text-timeouts.ts'

const mediaFields = [
  'id',
  'kind',
  'base_url',
  'api_key',
  'headers',
  'connect_timeout_s',
  'reuse_connections',
  'send_links',
] as const

const textFields = {
  sandbox: ['id', 'kind', 'routes'],
  'openai-compatible': [
    'id',
    'kind',
    'base_url',
    'api_key',
    'api_key_header',
    'headers',
    'routes',
    'max_tokens_field',
    'omit_fields',
    'refuse_fields',
    ...costFields,
    'connect_timeout_s',
    ...textTimeoutFields,
    'retries',
    'stream_usage',
    'finish_aborted',
    'pass_rate_limits',
    'reuse_connections',
  ],
  anthropic: [
    'id',
    'kind',
    'base_url',
    'api_key',
    'api_key_header',
    'headers',
    'routes',
    'betas',
    'refuse_fields',
    'connect_timeout_s',
    ...textTimeoutFields,
    'retries',
    'finish_aborted',
    'pass_rate_limits',
    'reuse_connections',
  ],
} as const satisfies Readonly<Record<Exclude<ProviderKind, MediaKind>, readonly string[]>>

/** The fields that the rows of a kind of provider can have. */
export function providerFieldsOf(kind: ProviderKind): readonly string[] {
  if (kind in textFields) return textFields[kind as keyof typeof textFields]
  return mediaKindRules(kind)?.reportsCredits === true ? [...mediaFields, 'credit_usd'] : mediaFields
}
