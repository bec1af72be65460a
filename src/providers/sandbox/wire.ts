import { z } from 'zod'

/** The limits of what a request can ask for. */
const DELAY_MS_MAX = 600_000
const OUTPUT_TOKENS_MAX = 100_000
const CHOICES_MAX = 128

const count = z.int().min(0).optional()

/** The `sandbox` member of a request. It is strict, because a mistyped fault must not look like a success. */
export const SandboxOptions = z.strictObject({
  /** The status of the answer. From 400 up, the answer is an error. */
  status: z.int().min(200).max(599).optional(),
  /** The members of the error object. */
  error: z.record(z.string(), z.unknown()).optional(),
  retry_after_s: z.int().min(0).optional(),
  delay_ms: z.int().min(0).max(DELAY_MS_MAX).optional(),
  fail: z.enum(['refused', 'reset', 'hang', 'html', 'broken_json', 'empty', 'cut']).optional(),
  /** The text of every choice. */
  reply: z.string().optional(),
  reasoning: z.string().optional(),
  refusal: z.string().optional(),
  finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']).optional(),
  /** The length of the default text. */
  output_tokens: z.int().min(0).max(OUTPUT_TOKENS_MAX).optional(),
  /** The usage to report; null reports none. */
  usage: z.record(z.string(), z.unknown()).nullable().optional(),
  /** The cost in dollars to report in the provider's cost header. */
  cost_usd: z.string().optional(),
  /** The body of the answer. */
  body: z.string().optional(),

  // Only for streams. Counts are of frames, including the one with the role.
  /** The time between two frames. */
  pace_ms: z.int().min(0).max(DELAY_MS_MAX).optional(),
  /** The number of frames before the connection breaks, or before the stream goes silent. */
  break_after: count,
  silent_after: count,
  /** The number of frames before an error frame, which ends the stream. */
  error_frame_after: count,
  /** End without `[DONE]`. */
  no_done: z.boolean().optional(),
  /** Only for chat: report the usage on the last frame with choices, on every frame for the output so far, or never. */
  usage_in_last_choice: z.boolean().optional(),
  cumulative_usage: z.boolean().optional(),
  no_usage: z.boolean().optional(),
  /** Send the events of a response without `event:` lines. */
  no_event_names: z.boolean().optional(),
  /** Send pieces of this many bytes, regardless of frames and characters. */
  chunk_bytes: z.int().min(1).optional(),
})
export type SandboxOptions = z.infer<typeof SandboxOptions>

/** The error object that a request asked for. */
export function sandboxError({ error }: SandboxOptions): Readonly<Record<string, unknown>> {
  return {
    message: 'This error was requested from the sandbox.',
    type: 'sandbox_error',
    code: null,
    ...error,
  }
}

const Message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
})
export type Message = z.infer<typeof Message>

const Tool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), parameters: z.unknown() }),
})
export type Tool = z.infer<typeof Tool>

const ceiling = z.int().min(1).nullish()

/** The fields of a chat request that the sandbox reads. Others are accepted and ignored. */
export const ChatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(Message).min(1),
  max_tokens: ceiling,
  max_completion_tokens: ceiling,
  n: z.int().min(1).max(CHOICES_MAX).nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  tools: z.array(Tool).nullish(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.looseObject({ function: z.looseObject({ name: z.string() }) }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: z
    .looseObject({
      type: z.enum(['text', 'json_object', 'json_schema']),
      json_schema: z.looseObject({ schema: z.unknown() }).optional(),
    })
    .nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  sandbox: SandboxOptions.default({}),
})
export type ChatRequest = z.infer<typeof ChatRequest>

const DIMENSIONS_MAX = 4096
const tokenId = z.int().min(0)

export const EmbeddingsRequest = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(z.string()), z.array(tokenId), z.array(z.array(tokenId))]),
  dimensions: z.int().min(1).max(DIMENSIONS_MAX).nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  sandbox: SandboxOptions.default({}),
})
export type EmbeddingsRequest = z.infer<typeof EmbeddingsRequest>

export type Read<Request> = { readonly request: Request } | { readonly problem: Problem }
export type Problem = { readonly message: string; readonly param: string | null }

/** Reads a request's body. A problem names the first wrong field and says what is right. */
export function readRequest<Request>(schema: z.ZodType<Request>, body: string): Read<Request> {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return { problem: { message: 'The body is not valid JSON.', param: null } }
  }
  const read = schema.safeParse(json)
  return read.success ? { request: read.data } : { problem: problemOf(read.error) }
}

function problemOf(error: z.ZodError): Problem {
  const [issue] = error.issues
  if (issue === undefined) return { message: 'The request is invalid.', param: null }
  if (issue.code === 'unrecognized_keys') {
    const param = [...issue.path, issue.keys[0]].join('.')
    const known = Object.keys(SandboxOptions.shape).join(', ')
    return { message: `"${param}" is not an option of the sandbox. The options are: ${known}.`, param }
  }
  const param = issue.path.join('.')
  return { message: `"${param}" is invalid: ${issue.message}.`, param }
}
