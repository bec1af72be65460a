import { lastNamed } from '../json/json-text.ts'
import { findJsonObject, isJsonObject, type JsonObject } from '../json/parse-json.ts'
import type { SseEvent } from '../sse/frame.ts'

/** The members that the gateway reads in an event of a responses stream. */
export type ResponsesEvent = {
  /** Its `type`, or else the name on the `event:` line. */
  readonly type: string
  readonly value: JsonObject
  /** The response object, in the events that contain it. */
  readonly response: JsonObject | undefined
}

/** The events that end a stream. */
const terminalTypes: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
])

/** Undefined for data that is not a JSON object. */
export function readResponsesEvent({ name, data }: SseEvent): ResponsesEvent | undefined {
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

/** Whether the upstream reports, after its 200, that it failed. */
export function isFailedEvent({ type, value }: ResponsesEvent): boolean {
  return type === 'response.failed' || type === 'error' || isJsonObject(value['error'])
}

/** The offset of the response object's brace in the data of an event that has one. */
export function responseStart(json: string): number {
  return lastNamed(json, 'response')?.start ?? 0
}
