import { isJsonObject } from './json/parse-json.ts'

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
