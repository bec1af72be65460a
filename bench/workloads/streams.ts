import { aroundNumber, UPSTREAM_MODEL, type RequestKind } from './workload.ts'

/**
 * How the mock upstream sends a stream. Each pace has its own path, because the mock upstream only looks at the path.
 */
export const paces = {
  /** A token every few milliseconds until the end, for a busy gateway. */
  paced: { everyMs: 5, tokens: 100 },
  /** A token every second, for a stream that is open for a long time. */
  held: { everyMs: 1000, tokens: 600 },
  /** The same token as fast as it is read, forever. */
  flood: { everyMs: 0, tokens: 1 },
} as const

export type Pace = keyof typeof paces

/** One kind of stream: the request and the upstream's answer. */
export type StreamWorkload = {
  readonly name: string
  readonly pace: Pace
  /** With usage, the gateway rewrites each chunk. Without it, the gateway only meters. */
  readonly includeUsage: boolean
  readonly body: RequestKind['body']
}

/** The catalog's name of the model with this pace. */
export function streamModel(pace: Pace): string {
  return `bench-${pace}`
}

/** The path of this pace on the mock upstream. */
export function streamPath(pace: Pace): string {
  return `/${pace}/chat/completions`
}

/** The path for customers. */
export const CHAT_PATH = '/v1/chat/completions'

export const streamWorkloads: readonly StreamWorkload[] = [
  workload('stream', 'paced', false),
  workload('stream with usage', 'paced', true),
]

export const heldStream = workload('held', 'held', false)
export const floodedStream = workload('flood', 'flood', false)

function workload(name: string, pace: Pace, includeUsage: boolean): StreamWorkload {
  const body = JSON.stringify({
    model: streamModel(pace),
    messages: [
      { role: 'system', content: 'You are a careful assistant for developers. Answer in plain sentences.' },
      { role: 'user', content: 'This is question number {number}. How do I read a file line by line?' },
    ],
    max_tokens: 400,
    stream: true,
    ...(includeUsage ? { stream_options: { include_usage: true } } : {}),
  })
  return { name, pace, includeUsage, body: aroundNumber(body) }
}

const common = {
  id: 'chatcmpl-BxQ7mZ1fV2kT9sLw4nRj8cHd',
  object: 'chat.completion.chunk',
  created: 1767225600,
  model: UPSTREAM_MODEL,
  service_tier: 'default',
  system_fingerprint: 'fp_4a331a0222',
}
const words = [
  'Open',
  ' the',
  ' file',
  ' as',
  ' a',
  ' stream',
  ',',
  ' and',
  ' iterate',
  ' over',
  ' its',
  ' lines',
  '.',
]

/** OpenAI pads each chunk to a varying length, so that the length of the text cannot be observed. */
const PADDING = 'k3Xq9LmZ7RtB2vYc'

/**
 * The frames of one stream in OpenAI's format: the role, one token each, the finish reason, the usage, and `[DONE]`.
 */
export function streamFrames(tokens: number): readonly string[] {
  let frames = 0
  const frame = (choices: readonly object[], usage: object | null = null) => {
    frames += 1
    const obfuscation = PADDING.slice((frames * 7) % PADDING.length)
    return `data: ${JSON.stringify({ ...common, choices, usage, obfuscation })}\n\n`
  }
  const delta = (delta: object, finishReason: string | null = null) =>
    frame([{ index: 0, delta, logprobs: null, finish_reason: finishReason }])
  return [
    delta({ role: 'assistant', content: '', refusal: null }),
    ...Array.from({ length: tokens }, (_, at) => delta({ content: words[at % words.length] })),
    delta({}, 'stop'),
    frame([], { prompt_tokens: 40, completion_tokens: tokens, total_tokens: 40 + tokens }),
    'data: [DONE]\n\n',
  ]
}
