/** What a command has to say: `value` with `--json`, else `text`. */
export type Outcome = {
  readonly value: unknown
  /** Without a line end. */
  readonly text: string
  /** Advice that is not part of the result: goes to standard error, and is left out with `--json`. */
  readonly note?: string
  /** 1 where the command did its work and found something wrong. */
  readonly exitCode?: 0 | 1
}

/** Ends a command. Its message is a sentence for the operator. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly exitCode: 1 | 2
  /** The body printed with `--json`: the envelope of every error. */
  readonly body: object

  /** `body` stands for an error that came in an envelope already. */
  constructor(
    message: string,
    { exitCode, code, body }: { readonly exitCode: 1 | 2; readonly code: string; readonly body?: object },
  ) {
    super(message)
    this.exitCode = exitCode
    this.body = body ?? { error: { message, type: 'command_error', code } }
  }
}

/** Left-aligned columns, two spaces apart. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map(row => (row[column] ?? '').length)),
  )
  return [head, ...rows]
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
