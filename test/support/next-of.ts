/** What the next read of a source gives, as a promise. */
export function nextOf<Next>(source: { read(take: (next: Next) => void): void }): Promise<Next> {
  return new Promise(resolve => source.read(resolve))
}

/** The next piece of an exchange's body, as a promise. */
export function pieceOf<Piece>(exchange: {
  read(receiver: { onPiece(piece: Piece): void; onFailed(error: unknown): void }): void
}): Promise<Piece> {
  return new Promise((onPiece, onFailed) => exchange.read({ onPiece, onFailed }))
}
