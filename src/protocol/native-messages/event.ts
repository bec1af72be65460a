import { findJsonObject, isJsonObject, type JsonObject } from '../json/parse-json.ts'
import type { SseEvent } from '../sse/frame.ts'

/** The members that the gateway reads in an event of a messages stream. */
export type MessagesEvent = {
  /** Its `type`, or else the name on the `event:` line. */
  readonly type: string
  readonly value: JsonObject
}

/** Undefined for data that is not a JSON object. */
export function readMessagesEvent({ name, data }: SseEvent): MessagesEvent | undefined {
  const value = data === undefined ? undefined : findJsonObject(data)
  if (value === undefined) return undefined
  const { type } = value
  return { type: typeof type === 'string' ? type : name, value }
}

export function isErrorEvent({ type, value }: MessagesEvent): boolean {
  return type === 'error' || isJsonObject(value['error'])
}

/** A member that is an object; an empty one otherwise. */
export function objectIn(value: JsonObject, name: string): JsonObject {
  const member = value[name]
  return isJsonObject(member) ? member : NOTHING
}

const NOTHING: JsonObject = {}
