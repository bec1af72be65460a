import type { StreamEnd, UpstreamStream } from '../../src/gateway/ports/text-provider.ts'

/** The next bytes of an upstream's stream, or how it ended. */
export async function nextOf(body: UpstreamStream): Promise<Uint8Array<ArrayBuffer> | StreamEnd> {
  return (await body.read()) ?? body.end!
}

/** The next piece of an exchange's body, as a promise. */
export function pieceOf<Piece>(exchange: {
  read(receiver: { onPiece(piece: Piece): void; onFailed(error: unknown): void }): void
}): Promise<Piece> {
  return new Promise((onPiece, onFailed) => exchange.read({ onPiece, onFailed }))
}
