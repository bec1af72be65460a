import { findJsonObject, isJsonObject, type JsonObject } from '../json/parse-json.ts'

/** The members that the gateway reads in a chunk of a chat stream. Everything else passes through. */
export type ChatChunk = {
  readonly value: JsonObject
  readonly choices: readonly JsonObject[]
  /** The usage object; undefined for `null` and `{}`, which ordinary chunks of many upstreams have. */
  readonly usage: JsonObject | undefined
  /** The upstream reports, after its 200, that it failed. */
  readonly isError: boolean
}

const NONE: readonly JsonObject[] = []

/** Reads the data of one frame. Undefined unless it is a JSON object. */
export function readChunk(data: string): ChatChunk | undefined {
  const value = findJsonObject(data)
  if (value === undefined) return undefined
  const choices = value['choices']
  const error = value['error']
  return {
    value,
    choices: Array.isArray(choices)
      ? choices.every(isJsonObject)
        ? choices
        : choices.filter(isJsonObject)
      : NONE,
    usage: countsOf(value['usage']),
    isError: error !== undefined && error !== null,
  }
}

function countsOf(usage: unknown): JsonObject | undefined {
  if (!isJsonObject(usage)) return undefined
  for (const _ in usage) return usage
  return undefined
}
