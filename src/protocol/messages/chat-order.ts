import { TEXT_SEPARATOR } from './blocks.ts'
import type { ChatMessage, ChatToolCall } from './chat-body.ts'

/**
 * Puts messages into the order that chat requires: the results of parallel calls directly after the one message that
 * made the calls. Results therefore go before other content of the user's turns, and calls from several turns are
 * merged.
 */
export class ChatOrder {
  readonly #messages: ChatMessage[] = []
  /** The user's messages since the assistant's last turn. Results that come later go before them. */
  #said: ChatMessage[] = []
  /** The assistant's last turn, while more calls may be added to it. */
  #turn: { readonly texts: string[]; readonly calls: ChatToolCall[] } | undefined

  addUser(message: ChatMessage): void {
    this.#endTurn()
    this.#said.push(message)
  }

  addResult(message: ChatMessage): void {
    this.#endTurn()
    this.#messages.push(message)
  }

  addAssistant(texts: readonly string[], calls: readonly ChatToolCall[]): void {
    this.#endSaid()
    if (this.#turn?.calls.length === 0) this.#endTurn()
    this.#turn ??= { texts: [], calls: [] }
    for (const text of texts) this.#turn.texts.push(text)
    for (const call of calls) this.#turn.calls.push(call)
  }

  messages(): readonly ChatMessage[] {
    this.#endTurn()
    this.#endSaid()
    return this.#messages
  }

  #endSaid(): void {
    for (const message of this.#said) this.#messages.push(message)
    this.#said = []
  }

  #endTurn(): void {
    if (this.#turn === undefined) return
    const { texts, calls } = this.#turn
    const content = texts.length === 0 ? null : texts.join(TEXT_SEPARATOR)
    this.#messages.push(
      calls.length === 0 ? { role: 'assistant', content } : { role: 'assistant', content, tool_calls: calls },
    )
    this.#turn = undefined
  }
}
