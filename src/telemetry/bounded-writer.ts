/** Some seconds of a busy log. What is beyond it is dropped: a log that nobody reads must not fill the memory. */
export const WAITING_CHARS_MAX = 8 << 20

/**
 * A `write` for `openLog` that drops lines while too much waits for a slow reader, and says how many as soon as there is room.
 * `write` calls `done` when its text has been taken.
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
  return `{"time":${atMs},"level":"error","message":"log lines were lost, because nobody read them","lines":${lost}}\n`
}
