/** Ends this process when its parent ends. The parent holds the other end of standard input and never writes. */
export function endWithParent(): void {
  process.stdin.on('end', () => process.exit(0))
  process.stdin.resume()
}
