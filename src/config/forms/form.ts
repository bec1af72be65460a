/** How the text of a setting is parsed, and the description of valid text. */
export type Form<Value> = {
  /** Completes the sentence “It must be …”. */
  readonly expected: string
  /** Undefined if the text is invalid. */
  readonly parse: (text: string) => Value | undefined
}
