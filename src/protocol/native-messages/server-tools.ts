import { isJsonObject } from '../json/parse-json.ts'
import type { ServerTools } from '../text-dialect.ts'

/** Held for a tool without `max_uses`. A long research turn needs about this many. */
const ORDINARY_USES = 10

/** Types whose tools the client runs itself, without their dates. */
const clientTypes = [
  'custom',
  'bash',
  'text_editor',
  'computer',
  'computer_toolset',
  'browser_toolset',
  'memory',
]
/** Types that only search the request's own list of tools, which costs nothing. */
const searchTypes = ['tool_search_tool_regex', 'tool_search_tool_bm25']
const ownTypes: ReadonlySet<string> = new Set([...clientTypes, ...searchTypes])

/** `web_search_20250305` is the type `web_search` and the date of its version. */
const DATE = /_\d{8}$/

/**
 * The tools of a messages request that run on the provider's servers. A tool of an unknown type counts as one, because
 * the provider may charge for it. Undefined if there is none.
 */
export function serverToolsOf({
  tools,
  mcp_servers: mcpServers,
}: Readonly<Record<string, unknown>>): ServerTools | undefined {
  let name: string | undefined
  let usesMax = 0
  let isLimited = true
  for (const tool of Array.isArray(tools) ? tools : []) {
    if (!isJsonObject(tool)) continue
    const { type, name: given, max_uses: limit } = tool
    if (typeof type !== 'string' || ownTypes.has(type.replace(DATE, ''))) continue
    name ??= typeof given === 'string' ? given : type
    const isCount = Number.isSafeInteger(limit) && (limit as number) >= 0
    usesMax += isCount ? (limit as number) : ORDINARY_USES
    isLimited &&= isCount
  }
  if (name === undefined && Array.isArray(mcpServers) && mcpServers.length > 0)
    return { name: 'mcp_servers', usesMax: ORDINARY_USES, isLimited: false }
  return name === undefined ? undefined : { name, usesMax, isLimited }
}
