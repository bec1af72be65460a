import { TurnQueue } from './turn-queue.ts'

/** What is done for a connection at the end of a turn, when others have theirs done. */
type Turned = {
  /** Takes what has come in the turn. */
  takeArrived(): void
  /** Sends what was made in the turn. */
  send(): void
}

/** Where a connection asks for that. */
export type ConnectionTurns<Connection> = {
  readonly arrivals: Pick<TurnQueue<Connection>, 'add' | 'handleNow'>
  readonly sends: Pick<TurnQueue<Connection>, 'add'>
}

/** `onThrown` is told of what a connection throws. */
export function connectionTurns<Connection extends Turned>(
  onThrown: (connection: Connection, error: unknown) => void,
): Readonly<Record<'arrivals' | 'sends', TurnQueue<Connection>>> {
  return {
    arrivals: new TurnQueue(connection => connection.takeArrived(), onThrown),
    sends: new TurnQueue(connection => connection.send(), onThrown),
  }
}
