import type { Fingerprint, Replays } from './replays.ts'

/** The login and the place of a Valkey or Redis server. */
export type CacheServer = {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** Undefined for the user `default`. */
  readonly user: string | undefined
  readonly password: string | undefined
  readonly database: number
}

/**
 * The requests that nodes are answering now, so that two nodes do not call a model for identical requests. Flights are
 * hints: if they are lost or the cache is down, another call of the model is made, and charged. No method rejects, and
 * each resolves within a tenth of a second.
 */
export interface Flights {
  /**
   * Registers that this node answers a request. Undefined if another node is answering an identical one now. If that
   * cannot be known, or the other node keeps no answer, the flight is not registered, and landing it does nothing.
   */
  begin(fingerprint: Fingerprint): Promise<Flight | undefined>
}

/** A request that this node is answering. Until it lands, the node renews it. It ends soon after the node died. */
export interface Flight {
  /**
   * Ends the flight. Call it after `keep` was called, without waiting for it. If there is nothing to keep, other nodes
   * are told for a moment that waiting is useless. Only the first call counts. Changes nothing if another node has
   * taken over the flight.
   */
  land(outcome: 'kept' | 'not_kept'): Promise<void>
}

/** What happened since the start. */
export type SharedCacheCounts = {
  readonly answered: number
  /** Calls that the server did not answer in time, refused, or left when it closed the connection. */
  readonly failed: number
  /** Calls that were not sent, because the cache was off after a failure, or too many waited. */
  readonly skipped: number
  /** Values that were not written with our key, or not for their place. */
  readonly rejected: number
}

/**
 * A cache that several nodes share: kept answers and flights. It has no money and no limits. Calls take effect in their
 * order, and those of one turn are sent together.
 */
export interface SharedCache {
  readonly replays: Replays
  readonly flights: Flights
  /** For messages to the operator; without user and password. */
  readonly name: string
  readonly counts: SharedCacheCounts
  readonly isConnected: boolean
  /** Connects for the first time. Resolves with the reason if that fails; the calls try again later. Never rejects. */
  start(): Promise<string | undefined>
  /** Writes, reads and deletes a value over another connection. Undefined if that works, else the reason. */
  problem(): Promise<string | undefined>
  /** Closes the connection and ends the renewals. Repeating it changes nothing. */
  close(): void
}
