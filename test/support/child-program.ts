/**
 * A command that runs a program in place of a shell until standard input closes, which happens however the process at
 * its other end ends. The program then gets the signal.
 */
export function untilInputCloses(program: readonly string[], signal: 'KILL' | 'QUIT' = 'KILL'): string[] {
  return ['sh', '-c', RUN_UNTIL_CLOSED, 'sh', signal, ...program]
}

const RUN_UNTIL_CLOSED = `
signal=$1
shift
exec 3<&0 </dev/null
(cat <&3; kill -"$signal" $$) >/dev/null 2>&1 &
exec "$@" 3<&-
`

/** Some servers refuse to run as this user. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
