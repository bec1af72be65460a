import { findJsonObject, isJsonObject, type JsonObject } from '../json/parse-json.ts'
import { eventText } from '../messages/event-frames.ts'
import { inputJsonOf } from '../messages/message.ts'

/** The most characters that wait for an earlier block to end. */
const WAITING_CHARS_MAX = 16 * 1024 * 1024

type TextBlock = { readonly type: 'text'; text: string }
type CallBlock = {
  readonly type: 'tool_use'
  /** The upstream's index of the call. */
  readonly call: number
  id: string
  name: string
  args: string
  /** How much of `args` has been sent. */
  sent: number
}
type Block = TextBlock | CallBlock

/**
 * The blocks of a message that is produced. Messages have one open block at a time, but a chat stream may mix parallel
 * calls. So only the first open block is sent as it grows; the blocks behind it wait until it is complete.
 */
export class LiveBlocks {
  readonly #messageId: () => string
  readonly #blocks: Block[] = []
  /** The index of the open block. */
  #open = 0
  #isStarted = false
  #waitingChars = 0

  /** `messageId` makes the ids of calls that come without one. */
  constructor(messageId: () => string) {
    this.#messageId = messageId
  }

  get hasCalls(): boolean {
    return this.#blocks.some(({ type }) => type === 'tool_use')
  }

  addText(text: string): void {
    if (text === '') return
    const last = this.#blocks.at(-1)
    if (last?.type === 'text') last.text += text
    else this.#blocks.push({ type: 'text', text })
    this.#countWaiting(text)
  }

  /** Adds to the call with this index, or begins it. */
  addCall(call: number, id: unknown, { name, arguments: args }: JsonObject): void {
    let block = this.#blocks.findLast((known): known is CallBlock => 'call' in known && known.call === call)
    // Some upstreams send every parallel call with the same index.
    const isOther = typeof id === 'string' && id !== '' && block !== undefined && !['', id].includes(block.id)
    if (block === undefined || isOther) {
      block = { type: 'tool_use', call, id: '', name: '', args: '', sent: 0 }
      this.#blocks.push(block)
    }
    if (typeof id === 'string' && id !== '') block.id = id
    if (typeof name === 'string' && name !== '') block.name = name
    const more = isJsonObject(args) ? JSON.stringify(args) : args
    if (typeof more !== 'string') return
    block.args += more
    this.#countWaiting(more)
  }

  /** The events that can be sent now. */
  grown(): string {
    let events = ''
    for (;;) {
      const block = this.#blocks[this.#open]
      if (block === undefined) return events
      events += this.#growth(block)
      if (this.#open === this.#blocks.length - 1 || !isComplete(block)) return events
      events += this.#close(block)
    }
  }

  /** The events of all blocks that are not yet complete. */
  ended(): string {
    let events = ''
    for (;;) {
      const block = this.#blocks[this.#open]
      if (block === undefined) return events
      events += this.#growth(block) + this.#close(block)
    }
  }

  /** The part of the open block that has not been sent. */
  #growth(block: Block): string {
    if (block.type === 'text') {
      const { text } = block
      block.text = ''
      if (text === '') return ''
      return this.#start('{"type":"text","text":""}') + this.#delta('text_delta', 'text', text)
    }
    // The name comes first, and the arguments are a JSON object unless the model made a mistake.
    if (block.name === '' || !block.args.trimStart().startsWith('{')) return ''
    const more = block.args.slice(block.sent)
    block.sent = block.args.length
    return this.#startCall(block) + (more === '' ? '' : this.#delta('input_json_delta', 'partial_json', more))
  }

  #close(block: Block): string {
    let events = ''
    // A call without a name cannot be used.
    const isUsable = block.type === 'text' ? this.#isStarted : block.name !== ''
    if (block.type === 'tool_use' && isUsable && block.sent === 0)
      events =
        this.#startCall(block) + this.#delta('input_json_delta', 'partial_json', inputJsonOf(block.args))
    if (!isUsable) {
      this.#blocks.splice(this.#open, 1)
      return ''
    }
    events += eventText('content_block_stop', `"index":${this.#open}`)
    this.#open += 1
    this.#isStarted = false
    return events
  }

  #startCall(block: CallBlock): string {
    if (block.id === '') block.id = `call_${this.#messageId()}_${block.call}`
    const { id, name } = block
    return this.#start(
      `{"type":"tool_use","id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"input":{}}`,
    )
  }

  #start(contentBlock: string): string {
    if (this.#isStarted) return ''
    this.#isStarted = true
    return eventText('content_block_start', `"index":${this.#open},"content_block":${contentBlock}`)
  }

  #delta(type: string, member: string, text: string): string {
    const delta = `{"type":"${type}","${member}":${JSON.stringify(text)}}`
    return eventText('content_block_delta', `"index":${this.#open},"delta":${delta}`)
  }

  #countWaiting(text: string): void {
    if (this.#open >= this.#blocks.length - 1) return
    this.#waitingChars += text.length
    if (this.#waitingChars > WAITING_CHARS_MAX)
      throw new Error('Too much text is waiting for an earlier call.')
  }
}

/** Whether nothing can be added to a block that another one follows. */
function isComplete(block: Block): boolean {
  return (
    block.type === 'text' || (block.args.trimEnd().endsWith('}') && findJsonObject(block.args) !== undefined)
  )
}
