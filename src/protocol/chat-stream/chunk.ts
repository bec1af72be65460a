import { findJsonObject, isJsonObject } from '../json/parse-json.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** What the gateway looks at in a chunk of a chat stream. Everything else passes through. */
export type ChatChunk = {
  readonly value: JsonObject
  readonly choices: readonly JsonObject[]
  /** The numbers as they came; undefined for `null` and `{}`, which ordinary chunks of many upstreams carry. */
  readonly usage: JsonObject | undefined
  /** The upstream says that it failed, after its 200. */
  readonly isError: boolean
}

const NONE: readonly JsonObject[] = []

/** Reads the data of one frame. Undefined for what is no JSON object. */
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
