import type { Clock } from '../gateway/ports/clock.ts'

/** Something that must not take for ever. */
export type Timed = {
  /** Infinity while no time runs. It may be moved on at will; after it was moved back, `watch` must be told. */
  deadlineMs: number
  /** Where it stands among the watched; below zero where it does not. Not for others to change. */
  place: number
  /** Its deadline has passed. It is watched on. */
  onDeadline(nowMs: number): void
}

/**
 * Tells calls, and connections that wait, that their time is over, with one timer for all: of many thousand hardly one gets there, and to
 * set and clear a timer for each costs more than to send it.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #watched: Timed[] = []
  #timerAtMs = Infinity
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now()
  }

  /** From now on; or its deadline was moved back. */
  watch(timed: Timed): void {
    if (timed.place < 0) timed.place = this.#watched.push(timed) - 1
    if (timed.deadlineMs < this.#timerAtMs) this.#setTimer(timed.deadlineMs)
  }

  /** No more; changes nothing for what is not watched. */
  forget(timed: Timed): void {
    const { place } = timed
    if (place < 0) return
    timed.place = -1
    const last = this.#watched.pop() as Timed
    if (last !== timed) {
      this.#watched[place] = last
      last.place = place
    }
    if (this.#watched.length === 0) this.#clearTimer()
  }

  #setTimer(atMs: number): void {
    this.#clearTimer()
    this.#timerAtMs = atMs
    this.#cancelTimer = this.#clock.after(atMs - this.#clock.now(), () => this.#onTimer())
  }

  #clearTimer(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#timerAtMs = Infinity
  }

  #onTimer(): void {
    this.#clearTimer()
    const nowMs = this.#clock.now()
    // One that is told may forget itself, and others.
    for (const timed of this.#watched.filter(({ deadlineMs }) => deadlineMs <= nowMs)) {
      if (timed.place >= 0) timed.onDeadline(nowMs)
    }
    const nextMs = this.#watched.reduce((first, { deadlineMs }) => Math.min(first, deadlineMs), Infinity)
    if (nextMs < this.#timerAtMs) this.#setTimer(nextMs)
  }
}
