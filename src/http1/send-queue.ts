/** What has something to send at the end of the turn. */
type Sender = { send(): void }

/**
 * What is made in one turn of the event loop goes out together at its end: a peer that sleeps is woken by the first of it, and
 * being woken for each message costs both sides more than sending does.
 */
export class SendQueue {
  #waiting: Sender[] = []

  /** Has `send` called before long. */
  add(sender: Sender): void {
    this.#waiting.push(sender)
    if (this.#waiting.length === 1) setImmediate(this.#sendAll)
  }

  readonly #sendAll = () => {
    const waiting = this.#waiting
    this.#waiting = []
    for (const sender of waiting) sender.send()
  }
}
