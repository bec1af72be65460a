/** An error whose `code` is the reason: the network's own, or one of ours in its manner. */
export function httpFailure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

/** The code of what a socket reported. A peer that closes without a word is no different from one that resets. */
export function socketFailure(error: unknown): Error {
  const isCoded = error instanceof Error && 'code' in error && typeof error.code === 'string'
  return isCoded ? error : httpFailure('ECONNRESET')
}
