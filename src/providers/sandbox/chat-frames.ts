import type { ChatAnswer, Choice, ReportedUsage } from './compose-answer.ts'
import { countTokens, tokenize } from './tokens.ts'
import type { ChatRequest } from './wire.ts'

const DONE = 'data: [DONE]\n\n'

/**
 * An answer as server-sent frames, one token each, made as they are asked for: the role first, then reasoning, words or tool
 * calls, the finish reason, the usage where it was asked for, and `[DONE]`. Several choices take turns.
 */
export function* chatFrames(answer: ChatAnswer, request: ChatRequest, createdS: number): Generator<string> {
  const { sandbox: options, model } = request
  const usage = options.no_usage === true ? undefined : answer.usage
  const isAskedFor = usage !== undefined && request.stream_options?.include_usage === true
  const common = { id: answer.id, object: 'chat.completion.chunk', created: createdS, model }
  // Where usage was asked for, OpenAI writes a null on every frame before the one that has it.
  const frame = (
    choices: readonly unknown[],
    reported: ReportedUsage | null = isAskedFor ? null : undefined,
  ) => `data: ${JSON.stringify({ ...common, system_fingerprint: 'sandbox', choices, usage: reported })}\n\n`

  let said = 0
  for (const { step, isLast } of takingTurns(answer.choices.map(stepsOf))) {
    said += step.tokens
    if (options.usage_in_last_choice === true && isLast) yield frame([step.choice], usage)
    else if (options.cumulative_usage === true) yield frame([step.choice], usageSoFar(usage, said))
    else yield frame([step.choice])
  }
  if (isAskedFor && options.usage_in_last_choice !== true) yield frame([], usage)
  if (options.no_done !== true) yield DONE
}

/** One frame's part of one choice, and the tokens of output it adds. */
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

/** One step of each choice, then the next of each, until all have ended; `isLast` is true for the very last of all. */
function* takingTurns(
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

function usageSoFar(usage: ReportedUsage, said: number): ReportedUsage {
  if (usage === undefined) return undefined
  const prompt = Number(usage['prompt_tokens'])
  return { prompt_tokens: prompt, completion_tokens: said, total_tokens: prompt + said }
}
