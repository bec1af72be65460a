import { aroundNumber, UPSTREAM_MODEL, type RequestKind } from './workload.ts'

/** How the mock upstream sends a stream: under a path of its own for each pace, since it looks at nothing else. */
export const paces = {
  /** A token for each stream every few milliseconds, to its end: a busy gateway. */
  paced: { everyMs: 5, tokens: 100 },
  /** A token now and one every second: a stream that is open for long. */
  held: { everyMs: 1000, tokens: 600 },
  /** The same token as fast as it is read, without end. */
  flood: { everyMs: 0, tokens: 1 },
} as const

export type Pace = keyof typeof paces

/** One kind of stream: what is asked, and how the upstream answers. */
export type StreamWorkload = {
  readonly name: string
  readonly pace: Pace
  /** With it, the gateway looks at each chunk and rewrites it; without, it meters along. */
  readonly includeUsage: boolean
  readonly body: RequestKind['body']
}

/** What clients call the model that is streamed at this pace. */
export function streamModel(pace: Pace): string {
  return `bench-${pace}`
}

/** Where the mock upstream streams at this pace. */
export function streamPath(pace: Pace): string {
  return `/${pace}/chat/completions`
}

/** The route that customers use. */
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

/** What OpenAI pads each chunk with, so that its length tells an eavesdropper nothing: now this long, now that. */
const PADDING = 'k3Xq9LmZ7RtB2vYc'

/** The frames of one stream: the role, a token each, the finish reason, the usage, and `[DONE]`, as OpenAI writes them. */
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
