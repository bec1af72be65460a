import { isFinished, modelKinds, type AnyModelSettings, type ModelKind } from '../model.ts'
import { chatOptionFields, readChatOptions, withoutPreset, withPreset, writeChatOptions } from './chat-row.ts'
import { flag, number, requiredOneOf, requiredText, text } from './fields.ts'
import { readFixedParams, writeFixedParams } from './fixed-params.ts'
import {
  imagePricingRemedy,
  readImagePricing,
  readProviderPrices,
  writeImagePricing,
  writeTokenPrices,
} from './image-pricing.ts'
import {
  readOutputTypes,
  readParams,
  readVideoSettings,
  writeParams,
  writeVideoSettings,
} from './media-row.ts'
import {
  readTextPricing,
  readVideoPricing,
  textPricingRemedy,
  videoPricingRemedy,
  writeTextPricing,
} from './pricing-row.ts'
import { checked, type Checked } from './problem.ts'
import { readRefuseFields, writeRefuseFields } from './refuse-fields.ts'
import {
  answerTimeoutFields,
  readTextTimeouts,
  textTimeoutFields,
  writeTextTimeouts,
} from './text-timeouts.ts'
import {
  definedOnly,
  fieldOf,
  openRow,
  refuseUnknownFields,
  reportField,
  reportMissing,
  type Place,
  type Row,
} from './row.ts'
import { readUpstreams, writeUpstreams } from './upstream-row.ts'
import { formatUsd } from '../../money.ts'

/** More than any model has. Keeps the token count of a worst case an exact integer. */
const TOKENS = { min: 1, max: 100_000_000, whole: true }
const DEFAULT_OWNER = 'system'

const commonFields = [
  'id',
  'kind',
  'enabled',
  'display_name',
  'description',
  'owned_by',
  'upstreams',
  'pricing',
]
/** The fields that the rows of each kind of model can have. */
export const modelFieldsOf = {
  chat: [
    ...commonFields,
    'markup',
    'ceiling_pricing',
    'max_output_tokens',
    'context_window',
    ...textTimeoutFields,
    ...chatOptionFields,
    'replays',
    'refuse_fields',
  ],
  embedding: [
    ...commonFields,
    'markup',
    'ceiling_pricing',
    'context_window',
    ...answerTimeoutFields,
    'replays',
    'refuse_fields',
  ],
  image: [...commonFields, 'provider_prices', 'params', 'fixed_params', 'output_types'],
  video: [...commonFields, 'engine', 'params', 'fixed_params', 'hold_duration_seconds', 'output_types'],
} as const satisfies Record<ModelKind, readonly string[]>

export const modelId = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9._:@+-]*(?:\/[A-Za-z0-9._:@+-]+)*$/,
  remedy: 'write a name of letters, digits and any of . _ : @ + - with single slashes inside',
}
const ID_LENGTH_MAX = 128
const line = {
  pattern: /^[^\p{Cc}\p{Cs}]{1,200}$/u,
  remedy: 'write one line of at most 200 characters, in quotes if it is a number',
}
const paragraph = {
  pattern: /^(?:[^\p{Cc}\p{Cs}]|[\n\t]){0,4000}$/u,
  remedy: 'write text of at most 4000 characters, in quotes if it is a number',
}

/**
 * Checks a model in the format of the catalog file and the admin API. A disabled row may lack its price or its output
 * ceiling, and is then a draft. An enabled row may not.
 */
export function decodeModel(value: unknown): Checked<AnyModelSettings> {
  return checked(problems => readModel(value, { path: [], problems }))
}

/** The row of a model. Omits defaults, except `enabled`. */
export function encodeModel(model: AnyModelSettings): Record<string, unknown> {
  return {
    id: model.id,
    kind: model.kind,
    enabled: model.enabled,
    ...definedOnly({
      display_name: model.displayName === model.id ? undefined : model.displayName,
      description: model.description === '' ? undefined : model.description,
      owned_by: model.ownedBy === DEFAULT_OWNER ? undefined : model.ownedBy,
    }),
    upstreams: writeUpstreams(model),
    ...writeKind(model),
  }
}

/** Like `decodeModel`, for a row inside a larger value. */
export function readModel(value: unknown, place: Place): AnyModelSettings | undefined {
  const row = openRow(value, place, 'write a model: its id, kind, upstreams and pricing')
  if (row === undefined) return undefined
  const id = requiredText(row, 'id', modelId)
  if (id !== undefined && id.length > ID_LENGTH_MAX) {
    const message = `has ${id.length} characters`
    reportField(row, 'id', { message, remedy: `write at most ${ID_LENGTH_MAX}` })
  }
  const kind = requiredOneOf(row, 'kind', modelKinds)
  if (kind === undefined) return undefined
  refuseUnknownFields(row, `a model of kind ${kind}`, modelFieldsOf[kind])
  const enabled = flag(row, 'enabled') ?? true
  if (enabled) requireFinished(row, kind)
  const displayName = text(row, 'display_name', line) ?? id
  const description = text(row, 'description', paragraph) ?? ''
  const ownedBy = text(row, 'owned_by', line) ?? DEFAULT_OWNER
  const upstreams = readUpstreams(row, kind)
  const own = readKind(kind === 'chat' ? withPreset(row) : row, kind)
  if (id === undefined || displayName === undefined || upstreams === undefined || own === undefined) {
    return undefined
  }
  // The compiler does not see that the costs of the upstreams are of this kind.
  const model = { id, displayName, description, ownedBy, upstreams, ...own, enabled } as AnyModelSettings
  return isFinished(model) ? model : { ...model, enabled: false }
}

/** Without these, a row could be served for free, or without a limit on its cost. */
function requireFinished(row: Row, kind: ModelKind): void {
  const orOff = ', or enabled: false until you know it'
  if (fieldOf(row, 'pricing') === undefined) {
    const remedy = {
      chat: textPricingRemedy('chat'),
      embedding: textPricingRemedy('embedding'),
      image: imagePricingRemedy,
      video: videoPricingRemedy,
    }[kind]
    reportMissing(row, 'pricing', remedy + orOff)
  }
  if (kind === 'chat' && fieldOf(row, 'max_output_tokens') === undefined) {
    reportMissing(row, 'max_output_tokens', `write the maximum number of output tokens of one answer${orOff}`)
  }
}

/**
 * Reads the fields that only this kind has. A price or output ceiling may be absent here: `requireFinished` checks
 * that.
 */
function readKind(row: Row, kind: ModelKind) {
  switch (kind) {
    case 'chat':
      return {
        kind,
        ...definedOnly({
          pricing: readTextPricing(row, kind),
          maxOutputTokens: number(row, 'max_output_tokens', TOKENS),
          contextWindow: number(row, 'context_window', TOKENS),
          replays: readReplays(row),
        }),
        ...readChatOptions(row),
        ...readTextTimeouts(row),
        ...readRefuseFields(row),
      }
    case 'embedding':
      return {
        kind,
        ...definedOnly({
          pricing: readTextPricing(row, kind),
          contextWindow: number(row, 'context_window', TOKENS),
          replays: readReplays(row),
        }),
        ...readTextTimeouts(row),
        ...readRefuseFields(row),
      }
    case 'image': {
      const params = readParams(row)
      return {
        kind,
        params,
        fixedParams: readFixedParams(row, params),
        ...definedOnly({
          pricing: readImagePricing(row),
          providerPrices: readProviderPrices(row),
          outputTypes: readOutputTypes(row, kind),
        }),
      }
    }
    case 'video': {
      const video = readVideoSettings(row)
      const pricing = readVideoPricing(row)
      const outputTypes = readOutputTypes(row, kind)
      return video && { kind, ...video, ...definedOnly({ pricing, outputTypes }) }
    }
  }
}

/** Undefined for the default, true. */
function readReplays(row: Row): false | undefined {
  return flag(row, 'replays') === false ? false : undefined
}

function writeKind(model: AnyModelSettings): Record<string, unknown> {
  switch (model.kind) {
    case 'chat':
      return {
        ...(model.pricing && writeTextPricing(model.pricing, 'chat')),
        ...definedOnly({
          max_output_tokens: model.maxOutputTokens,
          context_window: model.contextWindow,
          replays: model.replays,
        }),
        ...withoutPreset({ ...writeChatOptions(model), ...writeTextTimeouts(model) }, model.preset),
        ...writeRefuseFields(model),
      }
    case 'embedding':
      return {
        ...(model.pricing && writeTextPricing(model.pricing, 'embedding')),
        ...definedOnly({ context_window: model.contextWindow, replays: model.replays }),
        ...writeTextTimeouts(model),
        ...writeRefuseFields(model),
      }
    case 'image':
      return {
        ...(model.pricing && { pricing: writeImagePricing(model.pricing) }),
        ...(model.providerPrices && { provider_prices: writeTokenPrices(model.providerPrices) }),
        ...writeParams(model.params),
        ...writeFixedParams(model.fixedParams),
        ...definedOnly({ output_types: model.outputTypes }),
      }
    case 'video':
      return {
        engine: model.engine,
        ...(model.pricing && { pricing: { per_second: formatUsd(model.pricing.perSecond) } }),
        ...writeParams(model.params),
        ...writeVideoSettings(model),
        ...definedOnly({ output_types: model.outputTypes }),
      }
  }
}
