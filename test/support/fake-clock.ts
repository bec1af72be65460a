import {
  fakeClock as ownFakeClock,
  type FakeClock as OwnFakeClock,
} from '../../src/http1/testing/fake-clock.ts'

/** A clock that only moves when a test moves it, and that clocks of other processes can follow. */
export type FakeClock = OwnFakeClock & {
  /**
   * Calls `follower` after each move, and before each timer, until the returned function is called. The follower is
   * done when it returns, so the two clocks agree whenever the test looks.
   */
  follow(follower: (move: ClockMove) => void): () => void
}

export type ClockMove = {
  readonly nowMs: number
  readonly monotonicMs: number
  /** Whether each timer that falls due runs at its time, as in `advance`, or all of them late, as in `jump`. */
  readonly timers: 'in time' | 'late'
}

export function fakeClock(startMs?: number): FakeClock {
  const own = ownFakeClock(startMs)
  const followers = new Set<(move: ClockMove) => void>()
  let timers: ClockMove['timers'] = 'in time'
  const tell = () => {
    const move = { nowMs: own.now(), monotonicMs: own.monotonicMs(), timers }
    for (const follower of followers) follower(move)
  }
  return {
    now: own.now,
    monotonicMs: own.monotonicMs,
    after: (delayMs, then) =>
      own.after(delayMs, () => {
        tell()
        then()
      }),
    advance(ms) {
      timers = 'in time'
      own.advance(ms)
      tell()
    },
    jump(ms) {
      timers = 'late'
      own.jump(ms)
      tell()
    },
    setWallClock(nowMs) {
      own.setWallClock(nowMs)
      tell()
    },
    get waiting() {
      return own.waiting
    },
    waitingFor: delayMs => own.waitingFor(delayMs),
    follow(follower) {
      followers.add(follower)
      return () => void followers.delete(follower)
    },
  }
}
