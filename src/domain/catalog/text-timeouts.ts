/**
 * Time limits for text requests, of a provider or of a model. A model's limit replaces its provider's, and either
 * replaces the setting of the whole gateway.
 */
export type TextTimeouts = {
  /** For a whole answer, or for the head of a stream. */
  readonly readTimeoutMs?: number
  /** The longest silence in a stream, from its head on. */
  readonly streamIdleTimeoutMs?: number
  /** From the start of a call for a stream to the first byte of its body. Without it, there is no such limit. */
  readonly firstByteTimeoutMs?: number
}
