import { isNamed, members } from '../json/members.ts'
import { isJsonObject } from '../json/parse-json.ts'
import type { SseEvent } from '../sse/frame.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** What the gateway looks at in an event of a responses stream. */
export type ResponsesEvent = {
  /** Its `type`, or else the name on its `event:` line. */
  readonly type: string
  readonly value: JsonObject
  /** The response object, in the events that tell how it stands. */
  readonly response: JsonObject | undefined
}

const BRACE_OPEN = 0x7b

/** With one of these a stream is over. */
const terminalTypes: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
])

/** Undefined for data that is no JSON object. */
export function readEvent({ name, data }: SseEvent): ResponsesEvent | undefined {
  const value = data === undefined ? undefined : findObject(data)
  if (value === undefined) return undefined
  const { type, response } = value
  return {
    type: typeof type === 'string' ? type : name,
    value,
    response: isJsonObject(response) ? response : undefined,
  }
}

export function isTerminal({ type }: ResponsesEvent): boolean {
  return terminalTypes.has(type)
}

/** The upstream says that it failed, after its 200. */
export function isFailure({ type, value }: ResponsesEvent): boolean {
  return type === 'response.failed' || type === 'error' || isJsonObject(value['error'])
}

/** Where the brace of the response object opens in the bytes of an event's data, which has one. */
export function responseStart(json: Uint8Array): number {
  let opens = 0
  // Of duplicates the last one, as JSON.parse takes it.
  for (const member of members(json))
    if (json[member.start] === BRACE_OPEN && isNamed(json, member, 'response')) opens = member.start
  return opens
}

function findObject(data: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
