import { invalidChoice, requiredText } from '../request-fields.ts'
import { blocksOf, imagePartOf, TEXT_SEPARATOR, textOf, type Block } from './blocks.ts'
import type { ChatMessage, ChatPart } from './chat-body.ts'

export type ToolResult = {
  readonly message: ChatMessage
  /**
   * Chat allows no images in a tool message, so they go into the user's message, after a caption with the call's id.
   */
  readonly imageParts: readonly ChatPart[]
}

/**
 * Converts a tool's result. Its texts become one string. Chat has no `is_error`, so a failure without a text gets the
 * text "Error".
 */
export function toolResultOf(block: Block, path: string): ToolResult {
  const callId = requiredText(block['tool_use_id'], `${path}.tool_use_id`)
  const { texts, images } = readContent(block['content'], `${path}.content`)
  const text = texts.join(TEXT_SEPARATOR)
  const says = text === '' && block['is_error'] === true ? 'Error' : text
  const caption: ChatPart = { type: 'text', text: `Images in the result of tool call ${callId}:` }
  return {
    message: { role: 'tool', tool_call_id: callId, content: says },
    imageParts: images.length === 0 ? [] : [caption, ...images],
  }
}

function readContent(content: unknown, path: string) {
  const texts: string[] = []
  const images: ChatPart[] = []
  if (content === undefined || content === null) return { texts, images }
  if (typeof content === 'string') return { texts: [content], images }
  let index = -1
  for (const block of blocksOf(content, path)) {
    index += 1
    const blockPath = `${path}.${index}`
    if (block['type'] === 'text') texts.push(textOf(block, blockPath))
    else if (block['type'] === 'image') images.push(imagePartOf(block, blockPath))
    else throw invalidChoice(`${blockPath}.type`, ['text', 'image'], block['type'])
  }
  return { texts, images }
}
