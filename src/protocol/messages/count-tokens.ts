import { FILE_TOKENS, IMAGE_TOKENS } from '../estimate-tokens.ts'
import type { JsonDocument } from '../json/parse-json.ts'
import { requiredName, unambiguousFields } from '../request-fields.ts'
import type { ChatBody, ChatMessage, ChatTool } from './chat-body.ts'
import { assertMaxDepth } from './assert-max-depth.ts'
import { messagesFields, readChatBody } from './request.ts'

/** The tokens for the role and the marks around a message. */
export const MESSAGE_TOKENS = 4
/** The tokens for the words around a function in a prompt. */
export const TOOL_TOKENS = 8

const CHARS_PER_TOKEN = 4

type CountTokensRequest = { readonly model: string; readonly inputTokens: number }

/**
 * Reads a count request, which has the body of a messages request, and estimates its tokens: a quarter of a token for a
 * character, an overhead for each message and tool, and a fixed number for an image or a file. Uses no tokenizer.
 */
export function readCountTokensRequest(document: JsonDocument): CountTokensRequest {
  const { depth } = unambiguousFields(document, messagesFields, 'model')
  assertMaxDepth(depth)
  const model = requiredName(document.value['model'], 'model')
  return { model, inputTokens: inputTokensOf(readChatBody(document)) }
}

function inputTokensOf({ messages, tools = [] }: ChatBody): number {
  let characters = 0
  for (const message of messages) characters += charactersOf(message)
  for (const tool of tools) characters += toolCharacters(tool)
  return (
    Math.ceil(characters / CHARS_PER_TOKEN) +
    messages.length * MESSAGE_TOKENS +
    tools.length * TOOL_TOKENS +
    mediaTokensOf(messages)
  )
}

function charactersOf(message: ChatMessage): number {
  let characters = 0
  if (typeof message.content === 'string') characters += message.content.length
  else for (const part of message.content ?? []) if (part.type === 'text') characters += part.text.length
  if (message.role !== 'assistant') return characters
  for (const { function: called } of message.tool_calls ?? []) {
    characters += called.name.length + called.arguments.length
  }
  return characters
}

function toolCharacters({ function: { name, description = '', parameters } }: ChatTool): number {
  return name.length + description.length + JSON.stringify(parameters).length
}

function mediaTokensOf(messages: readonly ChatMessage[]): number {
  let tokens = 0
  for (const { content } of messages) {
    if (typeof content === 'string' || content === null) continue
    for (const part of content) {
      if (part.type === 'image_url') tokens += IMAGE_TOKENS
      else if (part.type === 'file') tokens += FILE_TOKENS
    }
  }
  return tokens
}
