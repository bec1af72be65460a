/** Up to here what goes out in one write is put together in one place that all connections share. */
const SCRATCH_BYTES = 64 * 1024
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

const LINE_END = '\r\n'
const CR = 0x0d
const LF = 0x0a
const LAST_CHUNK = '0\r\n\r\n'
const NOTHING = new Uint8Array()

export type OutgoingSocket = { write(bytes: Uint8Array, from: number, length: number): number }

/**
 * What a connection sends. Each write goes to the kernel at once; what it does not take is kept until it does. Whoever has more to
 * send waits for that, so that no more than one piece is ever kept.
 */
export class Outgoing {
  readonly #socket: OutgoingSocket
  readonly #onBlocked: () => void
  #unsent: Buffer | undefined
  #whenSent: (() => void) | undefined

  /** `onBlocked` is called when the kernel does not take all of a write. */
  constructor(socket: OutgoingSocket, onBlocked: () => void) {
    this.#socket = socket
    this.#onBlocked = onBlocked
  }

  /** Whether the kernel has taken all of it. */
  get isSent(): boolean {
    return this.#unsent === undefined
  }

  /** Resolves as soon as all is sent, or will never be. */
  sent(): Promise<void> {
    return new Promise(resolve => {
      if (this.#unsent === undefined) resolve()
      else this.#whenSent = resolve
    })
  }

  /** Text of Latin-1, and behind it so many bytes, or a text that has so many in UTF-8, in one write. */
  send(text: string, content: Uint8Array | string = NOTHING, length = content.length): void {
    const size = text.length + length
    if (size === 0) return
    const target = size <= SCRATCH_BYTES ? scratch : Buffer.allocUnsafe(size)
    target.write(text, 0, 'latin1')
    if (typeof content === 'string') target.write(content, text.length)
    else target.set(content, text.length)
    this.#write(target, size)
  }

  /** One chunk of a body, behind `text`, in one write. */
  sendChunk(text: string, bytes: Uint8Array): void {
    const size = text.length + hexDigits(bytes.length) + bytes.length + 2 * LINE_END.length
    const target = size <= SCRATCH_BYTES ? scratch : Buffer.allocUnsafe(size)
    if (text !== '') target.write(text, 0, 'latin1')
    let at = writeLength(bytes.length, target, text.length)
    target.set(bytes, at)
    at += bytes.length
    target[at] = CR
    target[at + 1] = LF
    this.#write(target, size)
  }

  /** The end of a body in chunks, behind `text`. */
  sendLastChunk(text: string): void {
    this.send(text + LAST_CHUNK)
  }

  /** The kernel takes more. */
  onDrain(): void {
    const unsent = this.#unsent
    if (unsent === undefined) return
    this.#unsent = undefined
    this.#write(unsent, unsent.length)
    if (this.#unsent === undefined) this.#tellSent()
  }

  /** The connection has closed. */
  onClose(): void {
    this.#unsent = undefined
    this.#tellSent()
  }

  #write(bytes: Buffer, size: number): void {
    if (this.#unsent !== undefined) {
      this.#unsent = Buffer.concat([this.#unsent, bytes.subarray(0, size)])
      return
    }
    const taken = this.#socket.write(bytes, 0, size)
    // Below zero it has closed, which is about to be told.
    if (taken === size || taken < 0) return
    const rest = bytes.subarray(taken, size)
    this.#unsent = bytes === scratch ? Buffer.from(rest) : rest
    this.#onBlocked()
  }

  #tellSent(): void {
    const then = this.#whenSent
    this.#whenSent = undefined
    then?.()
  }
}

function hexDigits(length: number): number {
  let digits = 1
  for (let rest = length; rest > 15; rest = Math.floor(rest / 16)) digits += 1
  return digits
}

/** Writes a chunk's length and the end of its line, and gives where that ends. A loop costs less than the text would. */
function writeLength(length: number, target: Uint8Array, start: number): number {
  const end = start + hexDigits(length)
  let rest = length
  for (let at = end - 1; at >= start; at -= 1) {
    const digit = rest % 16
    target[at] = digit < 10 ? 0x30 + digit : 0x57 + digit
    rest = Math.floor(rest / 16)
  }
  target[end] = CR
  target[end + 1] = LF
  return end + LINE_END.length
}
