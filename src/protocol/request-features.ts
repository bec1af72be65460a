import { isJsonObject, jsonObjectOf } from './json/parse-json.ts'
import { unambiguousFields } from './request-fields.ts'

/** The features beside tokens that a request asks for, for rows that price them. */
export type PricedFeatures = {
  /** Its service tier; undefined if it names none. */
  readonly serviceTier: string | undefined
  /** Whether the model may search the web, or stored files. */
  readonly hasSearch: boolean
  readonly hasFileSearch: boolean
  /** The most calls of the provider's tools; undefined if the request does not limit them. */
  readonly toolCallsMax: number | undefined
}

export const NO_PRICED_FEATURES: PricedFeatures = {
  serviceTier: undefined,
  hasSearch: false,
  hasFileSearch: false,
  toolCallsMax: undefined,
}

const fields: ReadonlySet<string> = new Set(['service_tier', 'tools', 'max_tool_calls', 'input', 'prompt'])

/**
 * Reads the features of a chat, responses or native Messages request. Throws `ambiguous_field` for one of their fields
 * that could be read in two ways. Only rows that price a feature need this.
 */
export function pricedFeaturesOf(text: string): PricedFeatures {
  const value = jsonObjectOf(text)
  unambiguousFields({ text, value, isAscii: false }, fields, 'service_tier')
  const { service_tier: tier, max_tool_calls: limit, input, prompt } = value
  const types = new Set([value['tools'], ...toolsIn(input)].flatMap(typesOf))
  // A stored prompt may have tools of its own.
  const mayHaveAny = (prompt ?? null) !== null
  const isCount = Number.isSafeInteger(limit) && (limit as number) >= 0
  return {
    serviceTier: typeof tier === 'string' ? tier : undefined,
    hasSearch: mayHaveAny || [...types].some(type => type.startsWith('web_search')),
    hasFileSearch: mayHaveAny || types.has('file_search'),
    toolCallsMax: isCount ? (limit as number) : undefined,
  }
}

/** The tools that items of the input add to those of the request. */
function toolsIn(input: unknown): readonly unknown[] {
  if (!Array.isArray(input)) return []
  return input.map(item => (isJsonObject(item) && item['type'] === 'additional_tools' ? item['tools'] : null))
}

function typesOf(tools: unknown): readonly string[] {
  if (!Array.isArray(tools)) return []
  return tools.flatMap(tool => (isJsonObject(tool) && typeof tool['type'] === 'string' ? [tool['type']] : []))
}

/**
 * Whether a request lets the model use tools that run at Google: those of `extra_body.google`, and any item of `tools`
 * that is not a function.
 */
export function usesGoogleTools(body: Readonly<Record<string, unknown>>): boolean {
  const { tools, extra_body: extra } = body
  const google = isJsonObject(extra) ? extra['google'] : undefined
  if (isJsonObject(google) && hasTools(google['tools'])) return true
  return Array.isArray(tools) && tools.some(tool => !isFunction(tool))
}

function isFunction(tool: unknown): boolean {
  return isJsonObject(tool) && (tool['type'] === 'function' || isJsonObject(tool['function']))
}

function hasTools(tools: unknown): boolean {
  return Array.isArray(tools) ? tools.length > 0 : (tools ?? null) !== null
}
