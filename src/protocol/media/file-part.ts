import { fileTooLarge } from './file-too-large.ts'
import type { InputName } from './input-names.ts'
import type { MediaBodyEvent } from './media-body-events.ts'
import { isImage, mediaTypeOf, SIGNATURE_BYTES, type MediaType } from './media-signature.ts'

/** A file of a form, while it arrives. Its first bytes are kept until they show its format. */
export class FilePart {
  readonly #name: InputName | undefined
  readonly #bytesMax: number
  readonly #start = new Uint8Array(SIGNATURE_BYTES)
  #length = 0
  #isStarted = false

  /** Without a name, it is an image or a video by its format. */
  constructor(name: InputName | undefined, bytesMax: number) {
    this.#name = name
    this.#bytesMax = bytesMax
  }

  push(bytes: Uint8Array<ArrayBuffer>, from: number, to: number, events: MediaBodyEvent[]): void {
    let at = from
    if (!this.#isStarted) {
      at = Math.min(to, from + SIGNATURE_BYTES - this.#length)
      this.#start.set(bytes.subarray(from, at), this.#length)
    }
    this.#length += to - from
    if (this.#length > this.#bytesMax) throw fileTooLarge(this.#name ?? 'input_reference', this.#bytesMax)
    if (!this.#isStarted && this.#length >= SIGNATURE_BYTES) this.#begin(events)
    if (this.#isStarted && to > at) events.push({ event: 'file_bytes', bytes: bytes.subarray(at, to) })
  }

  finish(events: MediaBodyEvent[]): void {
    if (!this.#isStarted) this.#begin(events)
    events.push({ event: 'file_end' })
  }

  #begin(events: MediaBodyEvent[]): void {
    this.#isStarted = true
    const start = this.#start.subarray(0, this.#length)
    const mediaType = mediaTypeOf(start)
    events.push({ event: 'file_start', name: this.#name ?? nameFor(mediaType), mediaType })
    if (start.length > 0) events.push({ event: 'file_bytes', bytes: start })
  }
}

function nameFor(type: MediaType | undefined): InputName {
  return type === undefined || isImage(type) ? 'image' : 'video'
}
