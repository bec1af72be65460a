import { isJsonObject } from '../json/parse-json.ts'
import { invalidChoice, invalidField, requiredArray, requiredText } from '../request-fields.ts'
import { TEXT_SEPARATOR, blockText, blocksOf, carriedText, imagePartOf, type Block } from './blocks.ts'
import type { ChatMessage, ChatPart, ChatToolCall } from './chat-body.ts'
import { ChatOrder } from './chat-order.ts'
import { documentPartsOf } from './documents.ts'
import { toolResultOf } from './tool-result.ts'

export const messageRoles = ['user', 'assistant', 'system', 'developer']
const userBlocks = ['text', 'image', 'document', 'tool_result']
const assistantBlocks = ['text', 'tool_use']

/**
 * Converts a conversation to chat: first one system message with the `system` field and every system entry among the
 * turns, then the turns. Thinking is dropped. A block of an unknown type becomes its text or is dropped, because an old
 * turn must not make all later ones impossible. In the newest turn of the user, it is refused. Throws `invalid_field`
 * with the path for content that chat cannot carry.
 */
export function conversationOf(system: unknown, turns: unknown): readonly ChatMessage[] {
  const order = new ChatOrder()
  const systemParts: string[] = []
  addSystemTexts(systemParts, system, 'system')
  const list = requiredArray(turns, 'messages')
  const newest = list.findLastIndex(turn => isJsonObject(turn) && turn['role'] === 'user')
  let index = -1
  for (const turn of list) {
    index += 1
    const path = `messages.${index}`
    if (!isJsonObject(turn)) throw invalidField(path, 'an object with "role" and "content"', turn)
    const { role, content } = turn
    switch (role) {
      case 'user':
        addUserTurn(order, content, { path: `${path}.content`, isNewest: index === newest })
        break
      case 'assistant':
        addAssistantTurn(order, content, `${path}.content`)
        break
      case 'system':
      case 'developer':
        addSystemTexts(systemParts, content, `${path}.content`)
        break
      default:
        throw invalidChoice(`${path}.role`, messageRoles, role)
    }
  }
  const messages = order.messages()
  if (systemParts.length === 0) return messages
  return [{ role: 'system', content: systemParts.join(TEXT_SEPARATOR) }, ...messages]
}

function addUserTurn(
  order: ChatOrder,
  content: unknown,
  { path, isNewest }: { readonly path: string; readonly isNewest: boolean },
): void {
  if (typeof content === 'string') {
    order.addUser({ role: 'user', content })
    return
  }
  const resultMedia: ChatPart[] = []
  const parts: ChatPart[] = []
  let hasResults = false
  let index = -1
  for (const block of blocksOf(content, path)) {
    index += 1
    const blockPath = `${path}.${index}`
    switch (block['type']) {
      case 'text': {
        const text = blockText(block, blockPath)
        if (text !== '') parts.push({ type: 'text', text })
        break
      }
      case 'image':
        parts.push(imagePartOf(block, blockPath))
        break
      case 'document':
        for (const part of documentPartsOf(block, blockPath)) parts.push(part)
        break
      case 'tool_result': {
        const { message, mediaParts } = toolResultOf(block, { path: blockPath, isNewest })
        order.addResult(message)
        for (const part of mediaParts) resultMedia.push(part)
        hasResults = true
        break
      }
      case 'thinking':
      case 'redacted_thinking':
        break
      default: {
        if (isNewest) throw invalidChoice(`${blockPath}.type`, userBlocks, block['type'])
        const text = carriedText(block)
        if (text !== '') parts.push({ type: 'text', text })
      }
    }
  }
  const said = resultMedia.length === 0 ? parts : [...resultMedia, ...parts]
  if (said.length > 0 || !hasResults) order.addUser({ role: 'user', content: contentOf(said) })
}

function addAssistantTurn(order: ChatOrder, content: unknown, path: string): void {
  if (typeof content === 'string') {
    order.addAssistant([content], [])
    return
  }
  const texts: string[] = []
  const calls: ChatToolCall[] = []
  let index = -1
  for (const block of blocksOf(content, path)) {
    index += 1
    const blockPath = `${path}.${index}`
    switch (block['type']) {
      case 'text': {
        const text = blockText(block, blockPath)
        if (text !== '') texts.push(text)
        break
      }
      case 'tool_use':
        calls.push(callOf(block, blockPath))
        break
      case 'thinking':
      case 'redacted_thinking':
        break
      case 'image':
      case 'document':
      case 'tool_result':
        throw invalidChoice(`${blockPath}.type`, assistantBlocks, block['type'])
      default: {
        const text = carriedText(block)
        if (text !== '') texts.push(text)
      }
    }
  }
  // A turn with only thinking has nothing that chat can carry.
  if (texts.length > 0 || calls.length > 0) order.addAssistant(texts, calls)
}

function callOf({ id, name, input }: Block, path: string): ChatToolCall {
  return {
    id: requiredText(id, `${path}.id`),
    type: 'function',
    function: {
      name: requiredText(name, `${path}.name`),
      arguments: argumentsOf(input, `${path}.input`),
    },
  }
}

/** The arguments of a call. A missing input is an empty one. */
function argumentsOf(input: unknown, path: string): string {
  if (input === undefined || input === null || input === '') return '{}'
  if (!isJsonObject(input)) throw invalidField(path, 'an object', input)
  return JSON.stringify(input)
}

/** Some upstreams accept text only as a string, so a single text becomes one. */
function contentOf(parts: readonly ChatPart[]): string | readonly ChatPart[] {
  const [first, second] = parts
  if (first === undefined) return ''
  return second === undefined && first.type === 'text' ? first.text : parts
}

/** The start of the telemetry that coding agents put before their system prompt. It changes with every request. */
const TELEMETRY = 'x-anthropic-billing-header:'

/**
 * Adds the texts of a `system` field, or of a system entry among the messages: a string or text blocks. Drops telemetry
 * and empty texts.
 */
function addSystemTexts(texts: string[], content: unknown, path: string): void {
  if (content === undefined || content === null) return
  if (typeof content === 'string') {
    const text = withoutTelemetryLine(content)
    if (text !== '') texts.push(text)
    return
  }
  for (const [index, block] of blocksOf(content, path).entries()) {
    const blockPath = `${path}.${index}`
    if (block['type'] !== 'text') throw invalidChoice(`${blockPath}.type`, ['text'], block['type'])
    const text = blockText(block, blockPath)
    if (text !== '' && !text.startsWith(TELEMETRY)) texts.push(text)
  }
}

/** Removes telemetry from a string: it is a header, which ends with its line. */
function withoutTelemetryLine(text: string): string {
  if (!text.startsWith(TELEMETRY)) return text
  const lineEnd = text.indexOf('\n')
  return lineEnd === -1 ? '' : text.slice(lineEnd + 1)
}
