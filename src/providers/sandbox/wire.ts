import { GatewayError } from '../../domain/errors.ts'
import { findJsonObject, isJsonObject, type JsonObject } from '../../protocol/json/parse-json.ts'
import {
  invalidChoice,
  invalidField,
  optionalBoolean,
  optionalInteger,
  optionalObject,
  requiredText,
} from '../../protocol/request-fields.ts'

/** The limits of what a request can ask for. */
const DELAY_MS_MAX = 600_000
const OUTPUT_TOKENS_MAX = 100_000

/** Reads a field. Undefined if it is absent or null; throws `invalid_field` for a wrong value. */
type FieldReader<Value> = (value: unknown, param: string) => Value | undefined

/** The readers of the `sandbox` member of a request. */
export const optionReaders = {
  /** The status of the answer. From 400 up, the answer is an error. */
  status: integer(200, 599),
  /** The members of the error object. */
  error: optionalObject,
  retry_after_s: integer(0),
  delay_ms: integer(0, DELAY_MS_MAX),
  fail: choice(['refused', 'reset', 'hang', 'html', 'broken_json', 'empty', 'cut']),
  /** The text of every choice. */
  reply: optionalText,
  reasoning: optionalText,
  refusal: optionalText,
  finish_reason: choice(['stop', 'length', 'tool_calls', 'content_filter']),
  /** The length of the default text. */
  output_tokens: integer(0, OUTPUT_TOKENS_MAX),
  /** The usage to report; null reports none. */
  usage: (value, param) => (value === null ? null : optionalObject(value, param)),
  /** The cost in dollars to report in the provider's cost header. */
  cost_usd: optionalText,
  /** The body of the answer. */
  body: optionalText,

  // Only for streams. Counts are of frames, including the one with the role.
  /** The time between two frames. */
  pace_ms: integer(0, DELAY_MS_MAX),
  /** The number of frames before the connection breaks, or before the stream goes silent. */
  break_after: integer(0),
  silent_after: integer(0),
  /** The number of frames before an error frame, which ends the stream. */
  error_frame_after: integer(0),
  /** End without `[DONE]`. */
  no_done: optionalBoolean,
  /** Only for chat: report the usage on the last frame with choices, on every frame for the output so far, or never. */
  usage_in_last_choice: optionalBoolean,
  cumulative_usage: optionalBoolean,
  no_usage: optionalBoolean,
  /** Send the events of a response without `event:` lines. */
  no_event_names: optionalBoolean,
  /** Send pieces of this many bytes, regardless of frames and characters. */
  chunk_bytes: integer(1),
} as const satisfies Readonly<Record<string, FieldReader<unknown>>>

export type SandboxOptions = {
  readonly [Name in keyof typeof optionReaders]?: Exclude<ReturnType<(typeof optionReaders)[Name]>, undefined>
}

/** The error object that a request asked for. */
export function sandboxError({ error }: SandboxOptions): JsonObject {
  return {
    message: 'This error was requested from the sandbox.',
    type: 'sandbox_error',
    code: null,
    ...error,
  }
}

type Read<Request> = { readonly request: Request } | { readonly problem: SandboxProblem }
export type SandboxProblem = { readonly message: string; readonly param: string | null }

/** Reads a request's body. A problem names the first wrong field and says what is right. */
export function readRequest<Request>(read: (fields: JsonObject) => Request, body: string): Read<Request> {
  const fields = findJsonObject(body)
  if (fields === undefined) return { problem: { message: 'The body is not a JSON object.', param: null } }
  try {
    return { request: read(fields) }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { problem: { message: error.message, param: error.extras.param ?? null } }
  }
}

/** Strict, because a mistyped fault must not look like a success. */
export function sandboxOptions(value: unknown): SandboxOptions {
  const asked = optionalObject(value, 'sandbox') ?? {}
  const known = Object.keys(optionReaders)
  const unknown = Object.keys(asked).find(name => !known.includes(name))
  if (unknown !== undefined) {
    const param = `sandbox.${unknown}`
    const message = `"${param}" is not an option of the sandbox. The options are: ${known.join(', ')}.`
    throw new GatewayError('invalid_field', message, { param })
  }
  const read = Object.entries(optionReaders).map(([name, reader]) => [
    name,
    Object.hasOwn(asked, name) ? reader(asked[name], `sandbox.${name}`) : undefined,
  ])
  return Object.fromEntries(read.filter(([, option]) => option !== undefined)) as SandboxOptions
}

// Readers of fields.

export function requiredObject(value: unknown, param: string): JsonObject {
  if (isJsonObject(value)) return value
  throw invalidField(param, 'an object', value)
}

/** An object with a `type`. */
export function typedObject(value: unknown, param: string): JsonObject & { readonly type: string } {
  const object = requiredObject(value, param)
  return { ...object, type: requiredText(object['type'], `${param}.type`) }
}

export function optionalText(value: unknown, param: string): string | undefined {
  return value === undefined || value === null ? undefined : requiredText(value, param)
}

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): FieldReader<number> {
  return (value, param) => optionalInteger(value, param, { min, max })
}

export function choice<Word extends string>(words: readonly Word[]): FieldReader<Word> {
  return (value, param) => {
    if (value === undefined || value === null) return undefined
    const found = words.find(word => word === value)
    if (found === undefined) throw invalidChoice(param, words, value)
    return found
  }
}
