import { z } from 'zod'
import { SandboxOptions, type ChatRequest, type Message, type Tool } from './wire.ts'

const InputItem = z.looseObject({ type: z.string().optional(), role: z.string().optional() })
type InputItem = z.infer<typeof InputItem>

/**
 * The fields of a responses request that the sandbox reads. Items and tools of unknown types are accepted and ignored.
 */
export const ResponsesRequest = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(InputItem)]),
  instructions: z.string().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z.looseObject({ format: z.looseObject({ type: z.string() }).nullish() }).nullish(),
  sandbox: SandboxOptions.default({}),
})
export type ResponsesRequest = z.infer<typeof ResponsesRequest>

/** The equivalent chat request, so that both routes get the same content. */
export function asChat(request: ResponsesRequest): ChatRequest {
  const { model, input, instructions, parallel_tool_calls, sandbox } = request
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  return {
    model,
    messages: [
      ...(typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : []),
      ...items.flatMap(messageOf),
    ],
    max_completion_tokens: request.max_output_tokens,
    tools: (request.tools ?? []).flatMap(functionOf),
    tool_choice: choiceOf(request.tool_choice),
    parallel_tool_calls,
    response_format: formatOf(request),
    sandbox,
  }
}

function messageOf(item: InputItem): readonly Message[] {
  const { type = 'message', role = 'user' } = item
  switch (type) {
    case 'message':
      return [{ role, content: contentOf(item['content']) }]
    case 'function_call':
      return [{ role: 'assistant', content: null, tool_calls: [item] }]
    case 'function_call_output':
      return [{ role: 'tool', content: contentOf(item['output']) }]
    default:
      return []
  }
}

function contentOf(content: unknown): Message['content'] {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? (content as { type: string }[]) : JSON.stringify(content ?? '')
}

function functionOf(tool: Readonly<Record<string, unknown>>): readonly Tool[] {
  const { type, name, parameters } = tool
  if (type !== 'function' || typeof name !== 'string') return []
  return [{ type, function: { name, parameters: parameters ?? undefined } }]
}

function choiceOf(choice: ResponsesRequest['tool_choice']): ChatRequest['tool_choice'] {
  if (choice === 'none' || choice === 'required') return choice
  if (typeof choice !== 'object' || choice === null || typeof choice['name'] !== 'string') return 'auto'
  return { function: { name: choice['name'] } }
}

function formatOf({ text }: ResponsesRequest): ChatRequest['response_format'] {
  const format = text?.format
  if (format?.type === 'json_schema')
    return { type: 'json_schema', json_schema: { schema: format['schema'] } }
  return format?.type === 'json_object' ? { type: 'json_object' } : undefined
}
