/** The output of a command: `value` with `--json`, otherwise `text`. */
export type Outcome = {
  readonly value: unknown
  /** Without a trailing newline. */
  readonly text: string
  /** Output that is too long for one string, instead of `text`. It is written piece by piece, also with `--json`. */
  readonly chunks?: AsyncIterable<string>
  /** Advice that is not part of the result. Goes to standard error; left out with `--json`. */
  readonly note?: string
  /** 1 if the command ran and found a problem. */
  readonly exitCode?: 0 | 1
}

/** A reply to a change that may not do what the operator expects. */
export type Warned = { readonly warnings?: readonly string[] }

/** The note of a reply with its warnings, after another note. */
export function warned({ warnings = [] }: Warned, note?: string): Pick<Outcome, 'note'> {
  const lines = [...(note === undefined ? [] : [note]), ...warnings]
  return lines.length === 0 ? {} : { note: lines.join('\n') }
}

/** Ends a command with an error. The message is a sentence for the operator. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly exitCode: 1 | 2
  readonly code: string
  /** The body printed with `--json`, in the error envelope. */
  readonly body: object

  /** `body` is for an error that already has an envelope. */
  constructor(
    message: string,
    { exitCode, code, body }: { readonly exitCode: 1 | 2; readonly code: string; readonly body?: object },
  ) {
    super(message)
    this.exitCode = exitCode
    this.code = code
    this.body = body ?? { error: { message, type: 'command_error', code } }
  }
}

/** Left-aligned columns with two spaces between them. */
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
