/** Up to eight letters, up to three digits, or any other single character; with the white space before it. */
const TOKEN = /\s*(?:[\p{L}\p{M}]{1,8}|\p{N}{1,3}|[^\s\p{L}\p{M}\p{N}])|\s+$/gu

/** Splits a text into the sandbox's tokens. Joined, they are the text again, so a text can be cut after any of them. */
export function tokenize(text: string): string[] {
  return text.match(TOKEN) ?? []
}

export function countTokens(text: string): number {
  return tokenize(text).length
}
