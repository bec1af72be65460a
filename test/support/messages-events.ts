import type { JsonObject } from '../../src/protocol/json/parse-json.ts'

export type FoldedMessage = {
  id?: unknown
  model?: unknown
  readonly content: JsonObject[]
  stopReason?: unknown
  usage: JsonObject
  isComplete: boolean
  error?: unknown
}

/** One event as it is on the wire. */
export function messagesEvent(type: string, members: JsonObject = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
}

/**
 * Folds the events of a stream into a message, as strictly as the strictest client: the events have names that fit, and
 * the blocks come one after the other.
 */
export function foldEvents(text: string): FoldedMessage {
  const message: FoldedMessage = { content: [], usage: {}, isComplete: false }
  let open: { readonly index: unknown; block: JsonObject; json: string } | undefined
  for (const frame of text.split('\n\n').slice(0, -1)) {
    const [first = '', second = '', ...more] = frame.split('\n')
    const data = JSON.parse(second.replace(/^data: /, '')) as JsonObject & { readonly type: string }
    if (first !== `event: ${data.type}` || more.length > 0) throw new Error(`Not an event: ${frame}`)
    if (message.isComplete) throw new Error(`After the end: ${frame}`)
    switch (data.type) {
      case 'ping':
        break
      case 'message_start': {
        const { id, model, usage } = data['message'] as JsonObject
        Object.assign(message, { id, model, usage })
        break
      }
      case 'content_block_start':
        if (open !== undefined || data['index'] !== message.content.length)
          throw new Error(`Misplaced: ${frame}`)
        open = { index: data['index'], block: data['content_block'] as JsonObject, json: '' }
        break
      case 'content_block_delta': {
        if (open === undefined || data['index'] !== open.index) throw new Error(`Misplaced: ${frame}`)
        const { text: words, partial_json: json } = data['delta'] as Record<string, string | undefined>
        if (words !== undefined)
          open.block = { ...open.block, text: `${open.block['text'] as string}${words}` }
        open.json += json ?? ''
        break
      }
      case 'content_block_stop': {
        if (open === undefined || data['index'] !== open.index) throw new Error(`Misplaced: ${frame}`)
        const { block, json } = open
        message.content.push(block['type'] === 'tool_use' ? { ...block, input: inputOf(json) } : block)
        open = undefined
        break
      }
      case 'message_delta':
        if (open !== undefined) throw new Error('A block is open at the end.')
        message.stopReason = (data['delta'] as JsonObject)['stop_reason']
        message.usage = { ...message.usage, ...(data['usage'] as JsonObject) }
        break
      case 'message_stop':
        message.isComplete = true
        break
      case 'error':
        message.error = data['error']
        break
      default:
        throw new Error(`Unknown event: ${frame}`)
    }
  }
  return message
}

function inputOf(json: string): unknown {
  try {
    return json === '' ? {} : JSON.parse(json)
  } catch {
    return json
  }
}
