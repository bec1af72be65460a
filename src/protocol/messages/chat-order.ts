import { TEXT_SEPARATOR } from './blocks.ts'
import type { ChatMessage, ChatToolCall } from './chat-body.ts'

/**
 * Puts messages into the order that chat demands: the results of parallel calls right behind the one message that made the
 * calls. So results go before what else the user said since, and calls spread over several turns come together.
 */
export class ChatOrder {
  readonly #messages: ChatMessage[] = []
  /** What the user said since the assistant's last turn; results may still come that go before it. */
  #said: ChatMessage[] = []
  /** The assistant's last turn, while more of its calls may come. */
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
