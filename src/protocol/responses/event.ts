import { lastNamed } from '../json/members.ts'
import { findJsonObject, isJsonObject } from '../json/parse-json.ts'
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

/** With one of these a stream is over. */
const terminalTypes: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
])

/** Undefined for data that is no JSON object. */
export function readEvent({ name, data }: SseEvent): ResponsesEvent | undefined {
  const value = data === undefined ? undefined : findJsonObject(data)
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

/** Where the brace of the response object opens in an event's data, which has one. */
export function responseStart(json: string): number {
  return lastNamed(json, 'response')?.start ?? 0
}
