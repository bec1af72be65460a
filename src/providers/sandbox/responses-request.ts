import {
  optionalArray,
  optionalBoolean,
  optionalObject,
  requiredName,
  requiredTextOrArray,
} from '../../protocol/request-fields.ts'
import type { ChatRequest, Message, Tool } from './chat-request.ts'
import {
  integer,
  optionalText,
  requiredObject,
  sandboxOptions,
  typedObject,
  type SandboxOptions,
} from './wire.ts'
import type { JsonObject } from '../../protocol/json/parse-json.ts'

/**
 * The fields of a responses request that the sandbox reads. Items and tools of unknown types are accepted and ignored.
 */
export type ResponsesRequest = {
  readonly model: string
  readonly input: string | readonly InputItem[]
  readonly instructions?: string | undefined
  readonly max_output_tokens?: number | undefined
  readonly tools?: readonly (JsonObject & { readonly type: string })[] | undefined
  readonly tool_choice?: string | (JsonObject & { readonly type: string }) | undefined
  readonly parallel_tool_calls?: boolean | undefined
  readonly text?: TextSettings | undefined
  readonly sandbox: SandboxOptions
  /** The whole request. The response repeats some of its fields. */
  readonly fields: JsonObject
}

type InputItem = JsonObject & { readonly type?: string | undefined; readonly role?: string | undefined }
type TextSettings = JsonObject & { readonly format?: JsonObject | undefined }

export function responsesRequest(fields: JsonObject): ResponsesRequest {
  const { input, tool_choice: choice } = fields
  const items = requiredTextOrArray(input, 'input')
  return {
    model: requiredName(fields['model'], 'model'),
    input: typeof items === 'string' ? items : items.map(itemAt),
    instructions: optionalText(fields['instructions'], 'instructions'),
    max_output_tokens: integer(1)(fields['max_output_tokens'], 'max_output_tokens'),
    tools: optionalArray(fields['tools'], 'tools')?.map((tool, index) => typedObject(tool, `tools.${index}`)),
    tool_choice:
      typeof choice === 'object' && choice !== null
        ? typedObject(choice, 'tool_choice')
        : optionalText(choice, 'tool_choice'),
    parallel_tool_calls: optionalBoolean(fields['parallel_tool_calls'], 'parallel_tool_calls'),
    text: textSettings(fields['text']),
    sandbox: sandboxOptions(fields['sandbox']),
    fields,
  }
}

function itemAt(value: unknown, index: number): InputItem {
  const item = requiredObject(value, `input.${index}`)
  const { type, role } = item
  return {
    ...item,
    type: optionalText(type, `input.${index}.type`),
    role: optionalText(role, `input.${index}.role`),
  }
}

function textSettings(value: unknown): TextSettings | undefined {
  const text = optionalObject(value, 'text')
  if (text === undefined) return undefined
  const format = optionalObject(text['format'], 'text.format')
  return { ...text, format: format === undefined ? undefined : typedObject(format, 'text.format') }
}

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
  if (typeof choice !== 'object' || typeof choice['name'] !== 'string') return 'auto'
  return { function: { name: choice['name'] } }
}

function formatOf({ text }: ResponsesRequest): ChatRequest['response_format'] {
  const format = text?.format
  if (format?.['type'] === 'json_schema')
    return { type: 'json_schema', json_schema: { schema: format['schema'] } }
  return format?.['type'] === 'json_object' ? { type: 'json_object' } : undefined
}
