import { isJsonObject } from '../json/parse-json.ts'
import { invalidChoice, invalidField, requiredText } from '../request-fields.ts'
import { blocksOf, imagePartOf, blockText, type Block } from './blocks.ts'
import type { ChatPart } from './chat-body.ts'

const sources = ['base64', 'text', 'content']
const FILENAME_CHARS_MAX = 200
/** Characters that are not allowed in file names. */
const NOT_IN_FILENAME = /[\p{Cc}/\\]/gu

/**
 * A document in chat's format: a file for base64, and text for text, after its title and context. Throws
 * `invalid_field` for a link or the id of a file: only the provider that has the file could open it.
 */
export function documentPartsOf(block: Block, path: string): readonly ChatPart[] {
  const sourcePath = `${path}.source`
  const { source, title, context } = block
  if (!isJsonObject(source)) throw invalidField(sourcePath, 'an object', source)
  const about = textParts([title, context])
  switch (source['type']) {
    case 'base64': {
      const mediaType = requiredText(source['media_type'], `${sourcePath}.media_type`)
      const base64 = requiredText(source['data'], `${sourcePath}.data`)
      const file = { filename: filenameOf(title), file_data: `data:${mediaType};base64,${base64}` }
      return [...textParts([context]), { type: 'file', file }]
    }
    case 'text':
      return [...about, { type: 'text', text: requiredText(source['data'], `${sourcePath}.data`) }]
    case 'content':
      return [...about, ...contentPartsOf(source['content'], `${sourcePath}.content`)]
    default:
      throw invalidChoice(`${sourcePath}.type`, sources, source['type'])
  }
}

function contentPartsOf(content: unknown, path: string): readonly ChatPart[] {
  if (typeof content === 'string') return textParts([content])
  return blocksOf(content, path).map((block, index): ChatPart => {
    const blockPath = `${path}.${index}`
    if (block['type'] === 'text') return { type: 'text', text: blockText(block, blockPath) }
    if (block['type'] === 'image') return imagePartOf(block, blockPath)
    throw invalidChoice(`${blockPath}.type`, ['text', 'image'], block['type'])
  })
}

function textParts(texts: readonly unknown[]): readonly ChatPart[] {
  return texts.flatMap(text => (typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : []))
}

/** Upstreams require a name, and some derive the type of the file from it. */
function filenameOf(title: unknown): string {
  const name = typeof title === 'string' ? title.replace(NOT_IN_FILENAME, ' ').trim() : ''
  if (name === '') return 'document.pdf'
  return /\.pdf$/i.test(name) ? name : `${name.slice(0, FILENAME_CHARS_MAX)}.pdf`
}
