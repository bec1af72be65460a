import type { ChatRequest, Message, Tool } from './chat-request.ts'
import { countTokens, sandboxText, tokenize } from './sandbox-text.ts'
import { exampleOf } from './schema-example.ts'
import { hash32, seededRandom, type Random } from './seeded-random.ts'

export type Choice = {
  readonly index: number
  readonly reasoning: string
  readonly text: string
  readonly refusal: string | undefined
  readonly toolCalls: readonly ToolCall[]
  readonly finishReason: string
}

type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string }

/** The usage object as reported; undefined if none is reported. */
export type ReportedUsage = Readonly<Record<string, unknown>> | undefined

export type ChatAnswer = {
  readonly id: string
  readonly choices: readonly Choice[]
  readonly usage: ReportedUsage
}

/** Fixed token counts: for each message, and for an image or another part that is not text. */
const MESSAGE_TOKENS = 3
const PART_TOKENS = 85

/** The sandbox's answer: the same for the same model, messages, seed and options, streamed or not. */
export function composeAnswer(request: ChatRequest): ChatAnswer {
  const key = JSON.stringify([request.model, request.messages, request.seed, request.sandbox])
  const choices = Array.from({ length: request.n ?? 1 }, (_, index) => composeChoice(request, index, key))
  return {
    id: `chatcmpl-sandbox-${hash32(key).toString(16).padStart(8, '0')}`,
    choices,
    usage: request.sandbox.usage === null ? undefined : (request.sandbox.usage ?? usageOf(request, choices)),
  }
}

function composeChoice(request: ChatRequest, index: number, key: string): Choice {
  const { sandbox } = request
  const random = seededRandom(`${index}:${key}`)
  const room = outputRoom(request.max_completion_tokens ?? request.max_tokens ?? Infinity)
  if (sandbox.fail === 'empty') return choiceOf(index, { finishReason: sandbox.finish_reason ?? 'stop' })

  const reasoning = room.take(sandbox.reasoning ?? '')
  if (sandbox.refusal !== undefined) {
    const refusal = room.take(sandbox.refusal)
    return choiceOf(index, { reasoning, refusal, finishReason: sandbox.finish_reason ?? room.finish('stop') })
  }
  const toolCalls = calledTools(request).map((tool, place) => ({
    id: `call_sandbox_${hash32(`${index}:${place}:${key}`).toString(16)}`,
    name: tool.function.name,
    arguments: room.take(JSON.stringify(exampleOf(tool.function.parameters ?? { type: 'object' }, random))),
  }))
  const text = toolCalls.length > 0 ? '' : room.take(stopped(answerText(request, random), request.stop))
  const finishReason = sandbox.finish_reason ?? room.finish(toolCalls.length > 0 ? 'tool_calls' : 'stop')
  return choiceOf(index, { reasoning, text, toolCalls, finishReason })
}

function choiceOf(index: number, parts: Partial<Choice> & Pick<Choice, 'finishReason'>): Choice {
  return { index, reasoning: '', text: '', refusal: undefined, toolCalls: [], ...parts }
}

/**
 * Counts tokens up to the request's output ceiling. A text that does not fit is cut, and the answer then ends with
 * `length`.
 */
function outputRoom(tokens: number) {
  let left = tokens
  let isCut = false
  return {
    take(text: string): string {
      const pieces = tokenize(text)
      const taken = pieces.slice(0, left)
      left -= taken.length
      isCut ||= taken.length < pieces.length
      return taken.join('')
    },
    finish: (reason: string) => (isCut ? 'length' : reason),
  }
}

function answerText(request: ChatRequest, random: Random): string {
  const { sandbox, response_format: format } = request
  if (sandbox.reply !== undefined) return sandbox.reply
  if (format?.type === 'json_schema') return JSON.stringify(exampleOf(format.json_schema?.['schema'], random))
  const last = request.messages.at(-1)
  const text = sandboxText(last === undefined ? '' : plainText(last), random, sandbox.output_tokens)
  return format?.type === 'json_object' ? JSON.stringify({ answer: text }) : text
}

/** The text up to the first stop sequence. */
function stopped(text: string, stop: ChatRequest['stop']): string {
  const ends = [stop ?? []]
    .flat()
    .map(sequence => (sequence === '' ? -1 : text.indexOf(sequence)))
    .filter(end => end >= 0)
  return text.slice(0, Math.min(text.length, ...ends))
}

/**
 * The tools that `tool_choice` forces, or else those that the user's last message names. If the last message is the
 * result of a tool, the answer is text.
 */
function calledTools(request: ChatRequest): readonly Tool[] {
  const { tools, tool_choice: choice, sandbox, messages } = request
  if (!tools || choice === 'none' || sandbox.reply !== undefined) return []
  if (typeof choice === 'object' && choice !== null) {
    return tools.filter(tool => tool.function.name === choice.function.name).slice(0, 1)
  }
  const last = messages.at(-1)
  const words = last?.role === 'user' ? plainText(last).split(/[^\w-]+/u) : []
  const mentioned = tools.filter(tool => words.includes(tool.function.name))
  const called = choice === 'required' && mentioned.length === 0 ? tools : mentioned
  return choice === 'required' || request.parallel_tool_calls === false ? called.slice(0, 1) : called
}

function plainText(message: Message): string {
  if (typeof message.content === 'string') return message.content
  return (message.content ?? []).map(part => (typeof part['text'] === 'string' ? part['text'] : '')).join(' ')
}

function usageOf(request: ChatRequest, choices: readonly Choice[]): ReportedUsage {
  const reasoning = sum(choices.map(choice => countTokens(choice.reasoning)))
  const output = reasoning + sum(choices.map(contentTokens))
  const input = sum(request.messages.map(inputTokensOf)) + countTokens(JSON.stringify(request.tools ?? ''))
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(reasoning > 0 ? { completion_tokens_details: { reasoning_tokens: reasoning } } : {}),
  }
}

function contentTokens({ text, refusal = '', toolCalls }: Choice): number {
  const calls = toolCalls.map(call => countTokens(call.name) + countTokens(call.arguments))
  return countTokens(text) + countTokens(refusal) + sum(calls)
}

function inputTokensOf(message: Message): number {
  const parts = Array.isArray(message.content) ? message.content : []
  const others = parts.filter(part => typeof part['text'] !== 'string').length
  const calls = message['tool_calls'] === undefined ? '' : JSON.stringify(message['tool_calls'])
  return MESSAGE_TOKENS + countTokens(plainText(message)) + countTokens(calls) + others * PART_TOKENS
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
