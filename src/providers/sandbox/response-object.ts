import { isJsonObject } from '../../protocol/json/parse-json.ts'
import { composeAnswer, type ChatAnswer, type Choice, type ReportedUsage } from './compose-answer.ts'
import { asChat, type ResponsesRequest } from './responses-request.ts'

/** One complete item of a response's output. */
export type OutputItem =
  | { readonly type: 'reasoning'; readonly id: string; readonly summary: readonly SummaryPart[] }
  | {
      readonly type: 'message'
      readonly id: string
      readonly status: 'completed' | 'incomplete'
      readonly role: 'assistant'
      readonly content: readonly ContentPart[]
    }
  | {
      readonly type: 'function_call'
      readonly id: string
      readonly status: 'completed' | 'incomplete'
      readonly call_id: string
      readonly name: string
      readonly arguments: string
    }

type SummaryPart = { readonly type: 'summary_text'; readonly text: string }
export type ContentPart =
  | {
      readonly type: 'output_text'
      readonly text: string
      readonly annotations: readonly []
      readonly logprobs: readonly []
    }
  | { readonly type: 'refusal'; readonly refusal: string }

/** A response that is over has its output and its usage. */
type ResponsePhase = 'in_progress' | 'over'

/** A response with all fields that strict clients require, at its start or at its end. */
export type SandboxResponse = {
  readonly output: readonly OutputItem[]
  at(phase: ResponsePhase): Readonly<Record<string, unknown>>
}

/** The sandbox's answer to a responses request, with the content of its answer to the same chat request. */
export function composeResponse(request: ResponsesRequest, createdS: number): SandboxResponse {
  const answer = composeAnswer(asChat(request))
  const id = `resp_${answer.id}`
  // A chat request without `n` has one choice.
  const choice = answer.choices[0] as Choice
  const cutBy = cutReasons[choice.finishReason]
  const output = outputOf(choice, id, cutBy === undefined ? 'completed' : 'incomplete')
  const over = {
    status: cutBy === undefined ? 'completed' : 'incomplete',
    incomplete_details: cutBy === undefined ? null : { reason: cutBy },
    output,
    usage: usageOf(answer, request) ?? null,
  }
  const begun = { status: 'in_progress', incomplete_details: null, output: [], usage: null }
  const settings = settingsOf(request)
  return {
    output,
    at: phase => ({
      id,
      object: 'response',
      created_at: createdS,
      error: null,
      ...settings,
      ...(phase === 'over' ? over : begun),
    }),
  }
}

const cutReasons: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

function outputOf(choice: Choice, id: string, status: 'completed' | 'incomplete'): readonly OutputItem[] {
  const { reasoning, text, refusal, toolCalls } = choice
  const items: OutputItem[] = []
  if (reasoning !== '') {
    items.push({ type: 'reasoning', id: `rs_${id}`, summary: [{ type: 'summary_text', text: reasoning }] })
  }
  const content = contentOf(text, refusal)
  if (content.length > 0) {
    items.push({ type: 'message', id: `msg_${id}`, status, role: 'assistant', content })
  }
  for (const { id: callId, name, arguments: args } of toolCalls) {
    items.push({ type: 'function_call', id: `fc_${callId}`, status, call_id: callId, name, arguments: args })
  }
  return items
}

function contentOf(text: string, refusal: string | undefined): readonly ContentPart[] {
  if (refusal !== undefined) return [{ type: 'refusal', refusal }]
  return text === '' ? [] : [{ type: 'output_text', text, annotations: [], logprobs: [] }]
}

/** The counts have other names than in chat. A usage that the request sets is reported as it is. */
function usageOf({ usage }: ChatAnswer, { sandbox }: ResponsesRequest): ReportedUsage {
  if (usage === undefined || sandbox.usage !== undefined) return usage
  const details = usage['completion_tokens_details']
  return {
    input_tokens: usage['prompt_tokens'],
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: usage['completion_tokens'],
    output_tokens_details: {
      reasoning_tokens: isJsonObject(details) ? details['reasoning_tokens'] : 0,
    },
    total_tokens: usage['total_tokens'],
  }
}

/** The fields of the request that the response repeats. */
function settingsOf(request: ResponsesRequest): Readonly<Record<string, unknown>> {
  return {
    model: request.model,
    background: false,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: request.fields['metadata'] ?? {},
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: request.fields['reasoning'] ?? { effort: null, summary: null },
    service_tier: 'default',
    store: false,
    temperature: request.fields['temperature'] ?? 1,
    text: request.text ?? { format: { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: request.fields['top_p'] ?? 1,
    truncation: 'disabled',
    user: null,
  }
}
