/** Frames of a chat stream as the upstream writes them, and as the client gets them. */

export const ROW_MODEL = 'gpt-x'
const UPSTREAM_MODEL = 'gpt-x-upstream'

/** A frame with these members and the common members of every chunk. */
export function frame(members: Readonly<Record<string, unknown>>): string {
  const common = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: UPSTREAM_MODEL }
  return `data: ${JSON.stringify({ ...common, ...members })}\n\n`
}

/** A frame with one choice. */
export function delta(delta: object, index = 0, more: Readonly<Record<string, unknown>> = {}): string {
  return frame({ choices: [{ index, delta, finish_reason: null }], ...more })
}

/** The frame that finishes a choice. */
export function finish(reason = 'stop', index = 0, more: Readonly<Record<string, unknown>> = {}): string {
  return frame({ choices: [{ index, delta: {}, finish_reason: reason }], ...more })
}

/** The usage frame at the end of a stream. */
export function usage(counts: Readonly<Record<string, unknown>> = TEN_IN_FIVE_OUT): string {
  return frame({ choices: [], usage: counts })
}

/** The cost of 10 input tokens at 2 USD and 5 output tokens at 10 USD per million. */
export const TEN_IN_FIVE_OUT = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
export const ROLE = delta({ role: 'assistant', content: '' })
export const HEL = delta({ content: 'Hel' })
export const LO = delta({ content: 'lo' })
export const FINISH = finish()
export const DONE = 'data: [DONE]\n\n'
export const ERROR = 'data: {"error":{"message":"We are out of GPUs.","type":"overloaded","code":null}}\n\n'

/** The texts of `HI` are five tokens, and "Hello" is one: 5 × 2 + 1 × 10 USD per million. */
export const HI = [{ role: 'user', content: 'Hi' }]
export const COST_OF_HELLO = '0.00002'
export const COST_OF_HEL = '0.00002'

/** The frames that a client gets with `include_usage`, without the cost. */
export function renamed(frames: string): string {
  return frames.replaceAll(`"model":"${UPSTREAM_MODEL}"`, `"model":"${ROW_MODEL}"`)
}

/** The frames that a client gets with `include_usage`, with `cost` at the end of the last usage. */
export function costed(frames: string, cost: string): string {
  const shown = renamed(frames)
  const end = shown.indexOf('}', shown.lastIndexOf('"usage":{'))
  return `${shown.slice(0, end)},"cost_usd":"${cost}"${shown.slice(end)}`
}

/** The usage frame that the gateway makes if the upstream sent none. */
export function madeUsage(promptTokens: number, completionTokens: number, cost: string): string {
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    cost_usd: cost,
  }
  const chunk = {
    id: 'chatcmpl-1',
    created: 1,
    object: 'chat.completion.chunk',
    model: ROW_MODEL,
    choices: [],
    usage,
  }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

/** The error frame at the end of a broken stream. */
export const BROKE_OFF = errorFrame(
  'The stream broke off before the answer was complete.',
  'upstream_error',
  'upstream_error',
)
export const STOPPED_SENDING = errorFrame(
  'The model stopped sending, and the stream was ended.',
  'timeout_error',
  'upstream_timeout',
)

function errorFrame(message: string, type: string, code: string): string {
  return `data: ${JSON.stringify({ error: { message, type, code, param: null } })}\n\n`
}

/** The comment that a client gets while a stream is silent. */
export const HEARTBEAT = ': heartbeat\n\n'

export function withoutHeartbeats(body: string): string {
  return body.replaceAll(HEARTBEAT, '')
}
