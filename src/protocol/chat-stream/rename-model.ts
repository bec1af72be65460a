import { byteText } from '../json/byte-text.ts'
import { splice } from '../json/splice.ts'
import { modelAndCostEdits } from '../reply-edits.ts'
import { dataInPlace } from '../sse/frame.ts'

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Puts the catalog's name of a model in the place of the upstream's, chunk by chunk of one stream.
 *
 * The chunks of a stream start with the same bytes, nearly always up to and including the model's name. Where one starts as
 * the last one did, the place is known, and looking for it again would cost more than all else that is done to the chunk.
 */
export class ModelRename {
  readonly model: string
  /** How the last chunk began, up to the end of its model's name; and the same with the new name. */
  #head: Bytes | undefined
  #newHead: Bytes = new Uint8Array(0)

  constructor(model: string) {
    this.model = model
  }

  /** The frame of a chunk, whose data is a JSON object, with the new name, put first where it has none. */
  rename(frame: Bytes): Bytes {
    const head = this.#head
    if (head === undefined || !startsWith(frame, head)) return this.#search(frame)
    const renamed = new Uint8Array(frame.length - head.length + this.#newHead.length)
    renamed.set(this.#newHead)
    renamed.set(frame.subarray(head.length), this.#newHead.length)
    return renamed
  }

  #search(frame: Bytes): Bytes {
    const edits = modelAndCostEdits(
      { text: byteText(dataInPlace(frame)), usage: undefined },
      { model: this.model, cost: null },
    )
    const [edit] = edits
    const renamed = splice(frame, edits)
    // A chunk that names no model, or two, is no pattern for the next.
    if (edit === undefined || edits.length > 1 || edit.start === edit.end) return renamed
    this.#head = frame.slice(0, edit.end)
    this.#newHead = renamed.slice(0, edit.end + renamed.length - frame.length)
    return renamed
  }
}

function startsWith(bytes: Bytes, head: Bytes): boolean {
  if (bytes.length < head.length) return false
  // From its end, where the heads of two models differ.
  for (let at = head.length - 1; at >= 0; at -= 1) if (bytes[at] !== head[at]) return false
  return true
}
