type Bytes = Uint8Array<ArrayBuffer>

/**
 * Gives copies of pieces as a byte stream may: each piece is overwritten when the next one, or the end, is given. A
 * reader that keeps a view of an earlier piece then has wrong bytes.
 */
export function shortLivedPieces(): (piece: Uint8Array | undefined) => Bytes | undefined {
  let given: Bytes | undefined
  return piece => {
    given?.fill(0xee)
    given = piece && Uint8Array.from(piece)
    return given
  }
}
