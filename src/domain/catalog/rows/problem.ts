import { GatewayError } from '../../errors.ts'

/** The place of a field in a value: `['models', 0, 'pricing']` is `models[0].pricing`. */
export type Path = readonly (string | number)[]

/** One problem of a row: a sentence in two halves that follow the field's name. */
export type RowProblem = {
  readonly path: Path
  /** What is wrong: `is missing`, `is -1`. Never contains a secret. */
  readonly message: string
  /** How to fix it: `write a decimal string such as "2.5"`. */
  readonly remedy: string
}

/** A value that passed every check, or all of its problems. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly RowProblem[] }

/** Enough to fix at once. The limit keeps the report of a hostile file from being larger than the file. */
export const PROBLEMS_MAX = 50

/** Runs a reader that reports problems. Its value is only used if it reported none. */
export function checked<T>(read: (problems: RowProblem[]) => T | undefined): Checked<T> {
  const problems: RowProblem[] = []
  const value = read(problems)
  if (problems.length > 0) return { ok: false, problems }
  if (value === undefined) throw new TypeError('A reader returned nothing and reported nothing.')
  return { ok: true, value }
}

export function report(problems: RowProblem[], problem: RowProblem): void {
  if (problems.length < PROBLEMS_MAX) problems.push(problem)
}

/** `models[0].pricing.input_per_mtok` */
export function formatPath(path: Path): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += text === '' ? shorten(step) : `.${shorten(step)}`
  }
  return text
}

/** `models[0].enabled is "yes"; write true or false.` A problem without a path is about the `whole`. */
export function problemSentence({ path, message, remedy }: RowProblem, whole = 'The value'): string {
  const end = remedy.endsWith('?') ? '' : '.'
  return `${path.length === 0 ? whole : formatPath(path)} ${message}; ${remedy}${end}`
}

/** The error for a request body with these problems. It lists all of them and has the first field as its `param`. */
export function rowsRefusal(problems: readonly RowProblem[]): GatewayError {
  const [first] = problems
  return new GatewayError(
    'invalid_field',
    problems.map(problem => problemSentence(problem)).join(' '),
    first === undefined || first.path.length === 0 ? {} : { param: formatPath(first.path) },
  )
}

const SHOWN_MAX = 60

/** Shortens a text to what fits in a message. */
export function shorten(text: string): string {
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`
}
