import { logTime } from './log.ts'

/** A few seconds of a busy log. Lines above this are dropped, so that an unread log cannot fill the memory. */
export const WAITING_CHARS_MAX = 8 << 20

/**
 * A `write` for `openLog` that drops lines while too much text waits for a slow reader, and reports their number once
 * there is room. `write` calls `done` when its text has been read.
 */
export function boundedWriter(
  write: (text: string, done: () => void) => void,
  now: () => number,
): (text: string) => void {
  let waiting = 0
  let lost = 0
  return text => {
    if (waiting + text.length > WAITING_CHARS_MAX) {
      lost += text.split('\n').length - 1
      return
    }
    const whole = lost === 0 ? text : lossLine(lost, now()) + text
    lost = 0
    waiting += whole.length
    write(whole, () => {
      waiting -= whole.length
    })
  }
}

function lossLine(lost: number, atMs: number): string {
  return `{"time":"${logTime(atMs)}","level":"error","message":"log lines were dropped because the reader was too slow","lines":${lost}}\n`
}
