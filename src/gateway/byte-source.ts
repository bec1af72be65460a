/** Bytes on their way to a client, made as they are asked for. */
export interface ByteSource {
  /**
   * Gives `take` the next bytes, never none; undefined at the end, and ever after. Before this returns where they are there
   * already. One read at a time. Called rather than promised to: a promise at every step of every chunk costs more than the rest.
   */
  read(take: TakeBytes): void
  /** The client has left, and reads no more; one that waits is given undefined. After the end, or repeated, it changes nothing. */
  cancel(): void
}

export type NextBytes = Uint8Array<ArrayBuffer> | undefined
export type TakeBytes = (next: NextBytes) => void
