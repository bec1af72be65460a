import { isJsonObject } from '../json/parse-json.ts'
import { invalidChoice, invalidField, requiredText } from '../request-fields.ts'
import type { ChatPart } from './chat-body.ts'

export type Block = Readonly<Record<string, unknown>>

/** Separates two texts that chat has only one string for. */
export const TEXT_SEPARATOR = '\n\n'

/** The blocks of a content that is not a string. Throws `invalid_field` for anything else. */
export function blocksOf(content: unknown, path: string): readonly Block[] {
  if (!Array.isArray(content)) throw invalidField(path, 'a string or an array of blocks', content)
  for (const [index, block] of content.entries()) {
    if (isJsonObject(block)) continue
    throw invalidField(`${path}.${index}`, 'a block: an object with a "type"', block)
  }
  return content as readonly Block[]
}

/** The text of a text block. Chat has no equivalent of its other members, such as `cache_control` and `citations`. */
export function blockText(block: Block, path: string): string {
  return requiredText(block['text'], `${path}.text`)
}

/**
 * The text of a block that has no equivalent in chat: its own text, or the texts of the blocks in its content. Empty if
 * it has none.
 */
export function carriedText({ text, content }: Block): string {
  if (typeof text === 'string') return text
  if (typeof content === 'string') return content
  const inner = Array.isArray(content)
    ? content.map(part => (isJsonObject(part) ? part['text'] : undefined))
    : []
  return inner.filter(part => typeof part === 'string' && part !== '').join(TEXT_SEPARATOR)
}

/** An image in chat's format: the link, or the bytes as a data URL. */
export function imagePartOf(block: Block, path: string): ChatPart {
  const sourcePath = `${path}.source`
  const source = block['source']
  if (!isJsonObject(source)) throw invalidField(sourcePath, 'an object', source)
  switch (source['type']) {
    case 'base64': {
      const mediaType = requiredText(source['media_type'], `${sourcePath}.media_type`)
      const base64 = requiredText(source['data'], `${sourcePath}.data`)
      return imagePart(`data:${mediaType};base64,${base64}`)
    }
    case 'url':
      return imagePart(requiredText(source['url'], `${sourcePath}.url`))
    default:
      throw invalidChoice(`${sourcePath}.type`, ['base64', 'url'], source['type'])
  }
}

function imagePart(url: string): ChatPart {
  return { type: 'image_url', image_url: { url } }
}
