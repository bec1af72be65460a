import { invalidChoice, requiredText } from '../request-fields.ts'
import { blocksOf, carriedText, imagePartOf, TEXT_SEPARATOR, blockText, type Block } from './blocks.ts'
import type { ChatMessage, ChatPart } from './chat-body.ts'
import { documentPartsOf } from './documents.ts'

export type ToolResult = {
  readonly message: ChatMessage
  /**
   * Chat allows only text in a tool message, so images and files go into the user's message, after a caption with the
   * call's id.
   */
  readonly mediaParts: readonly ChatPart[]
}

type Place = { readonly path: string; readonly isNewest: boolean }

const resultBlocks = ['text', 'image', 'document']

/**
 * Converts a tool's result. Its texts become one string. Chat has no `is_error`, so a failure without a text gets the
 * text "Error".
 */
export function toolResultOf(block: Block, { path, isNewest }: Place): ToolResult {
  const callId = requiredText(block['tool_use_id'], `${path}.tool_use_id`)
  const { texts, media } = readContent(block['content'], { path: `${path}.content`, isNewest })
  const text = texts.join(TEXT_SEPARATOR)
  const says = text === '' && block['is_error'] === true ? 'Error' : text
  const what = media.every(({ type }) => type === 'image_url') ? 'Images' : 'Files'
  const caption: ChatPart = { type: 'text', text: `${what} in the result of tool call ${callId}:` }
  return {
    message: { role: 'tool', tool_call_id: callId, content: says },
    mediaParts: media.length === 0 ? [] : [caption, ...media],
  }
}

function readContent(content: unknown, { path, isNewest }: Place) {
  const texts: string[] = []
  const media: ChatPart[] = []
  if (content === undefined || content === null) return { texts, media }
  if (typeof content === 'string') return { texts: [content], media }
  let index = -1
  for (const block of blocksOf(content, path)) {
    index += 1
    const blockPath = `${path}.${index}`
    switch (block['type']) {
      case 'text':
        texts.push(blockText(block, blockPath))
        break
      case 'image':
        media.push(imagePartOf(block, blockPath))
        break
      case 'document':
        for (const part of documentPartsOf(block, blockPath))
          if (part.type === 'text') texts.push(part.text)
          else media.push(part)
        break
      default: {
        if (isNewest) throw invalidChoice(`${blockPath}.type`, resultBlocks, block['type'])
        const text = carriedText(block)
        if (text !== '') texts.push(text)
      }
    }
  }
  return { texts, media }
}
