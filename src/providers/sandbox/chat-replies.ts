import type { ChatRequest } from './chat-request.ts'
import type { ChatAnswer, Choice, ReportedUsage } from './compose-answer.ts'
import { countTokens, tokenize } from './sandbox-text.ts'

/** An answer as one `chat.completion` object. */
export function chatJson(answer: ChatAnswer, model: string, createdS: number): unknown {
  return {
    id: answer.id,
    object: 'chat.completion',
    created: createdS,
    model,
    system_fingerprint: 'sandbox',
    choices: answer.choices.map(choice => ({
      index: choice.index,
      message: messageOf(choice),
      logprobs: null,
      finish_reason: choice.finishReason,
    })),
    ...(answer.usage === undefined ? {} : { usage: answer.usage }),
  }
}

function messageOf({ text, reasoning, refusal, toolCalls }: Choice) {
  const hasContent = refusal === undefined && toolCalls.length === 0
  return {
    role: 'assistant',
    content: hasContent ? text : null,
    refusal: refusal ?? null,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toolCallJson) }),
  }
}

function toolCallJson({ id, name, arguments: text }: Choice['toolCalls'][number]) {
  return { id, type: 'function', function: { name, arguments: text } }
}

const DONE = 'data: [DONE]\n\n'

/**
 * An answer as server-sent frames of one token each, generated on demand: the role, then reasoning, text or tool calls,
 * the finish reason, the usage if it was requested, and `[DONE]`. The frames of several choices alternate.
 */
export function* chatFrames(answer: ChatAnswer, request: ChatRequest, createdS: number): Generator<string> {
  const { sandbox: options, model } = request
  const usage = options.no_usage === true ? undefined : answer.usage
  const isRequested = usage !== undefined && request.stream_options?.include_usage === true
  const common = { id: answer.id, object: 'chat.completion.chunk', created: createdS, model }
  // If usage was requested, OpenAI sends `null` on every frame before the one with the usage.
  const frame = (
    choices: readonly unknown[],
    reported: ReportedUsage | null = isRequested ? null : undefined,
  ) => `data: ${JSON.stringify({ ...common, system_fingerprint: 'sandbox', choices, usage: reported })}\n\n`

  let outputTokens = 0
  for (const { step, isLast } of alternating(answer.choices.map(stepsOf))) {
    outputTokens += step.tokens
    if (options.usage_in_last_choice === true && isLast) yield frame([step.choice], usage)
    else if (options.cumulative_usage === true) yield frame([step.choice], usageSoFar(usage, outputTokens))
    else yield frame([step.choice])
  }
  if (isRequested && options.usage_in_last_choice !== true) yield frame([], usage)
  if (options.no_done !== true) yield DONE
}

/** The part of one choice in one frame, and the output tokens that it adds. */
type Step = { readonly choice: unknown; readonly tokens: number }

function* stepsOf({ index, reasoning, text, refusal, toolCalls, finishReason }: Choice): Generator<Step> {
  const step = (delta: object, tokens = 1, reason: string | null = null): Step => ({
    choice: { index, delta, logprobs: null, finish_reason: reason },
    tokens,
  })
  yield step({ role: 'assistant', content: toolCalls.length > 0 ? null : '' }, 0)
  for (const piece of tokenize(reasoning)) yield step({ reasoning_content: piece })
  for (const piece of tokenize(refusal ?? '')) yield step({ refusal: piece })
  for (const piece of tokenize(text)) yield step({ content: piece })
  for (const [place, { id, name, arguments: whole }] of toolCalls.entries()) {
    const call = { index: place, id, type: 'function', function: { name, arguments: '' } }
    yield step({ tool_calls: [call] }, countTokens(name))
    for (const piece of tokenize(whole)) {
      yield step({ tool_calls: [{ index: place, function: { arguments: piece } }] })
    }
  }
  yield step({}, 0, finishReason)
}

/** One step of each choice in turn, until all have ended. `isLast` is true for the last step of all. */
function* alternating(
  choices: readonly Generator<Step>[],
): Generator<{ readonly step: Step; readonly isLast: boolean }> {
  let running = [...choices]
  let held: Step | undefined
  while (running.length > 0) {
    const ended = new Set<Generator<Step>>()
    for (const steps of running) {
      const next = steps.next()
      if (next.done === true) ended.add(steps)
      else {
        if (held !== undefined) yield { step: held, isLast: false }
        held = next.value
      }
    }
    running = running.filter(steps => !ended.has(steps))
  }
  if (held !== undefined) yield { step: held, isLast: true }
}

function usageSoFar(usage: ReportedUsage, outputTokens: number): ReportedUsage {
  if (usage === undefined) return undefined
  const prompt = Number(usage['prompt_tokens'])
  return { prompt_tokens: prompt, completion_tokens: outputTokens, total_tokens: prompt + outputTokens }
}
