/** Longer than any job's time to live, so that a job can be made to finish after its deadline. */
const DELAY_MS_MAX = 48 * 3_600_000
const IMAGES_MAX = 32
const POLL_FAILURES_MAX = 1000
/** As long as the longest clip of any engine, and some more. */
const CLIP_SECONDS_MAX = 120

/** The rule for a directive's text, and the value of the text. The value of a wrong text is undefined. */
type Directive<Value> = { readonly expected: string; readonly read: (text: string) => Value | undefined }

/** The directives in a prompt for the sandbox, as `[sandbox name=value name …]`. */
export const directives = {
  /** The submission is refused with this code. */
  reject: word(),
  /** The HTTP status of that refusal; 400 by default. */
  status: whole(499, 400),
  retry_after_s: whole(86_400),
  /**
   * Faults of the submission. `unknown`: the sandbox has the job. `lost`: it does not have the job. `hang`: there is no
   * answer, and the sandbox has the job. Also `not_sent` and `no_id`.
   */
  submit: oneOf(['unknown', 'lost', 'hang', 'not_sent', 'no_id']),
  /** The time from the submission to the end of the job. */
  delay_ms: whole(DELAY_MS_MAX),
  /** The generation fails with this code. */
  fail: word(),
  /** The job never ends. */
  never: flag(),
  /** The status of the job while it runs: one that the adapter does not know. */
  upstream_status: word(),
  /** The number of polls that fail before the first one that is answered. */
  poll_failures: whole(POLL_FAILURES_MAX),
  /** The number of images to make, instead of `n`. */
  images: whole(IMAGES_MAX),
  /** The provider does not report how many images it made. */
  uncounted: flag(),
  /**
   * Faults of the result. `empty`: no output. `refused`: a link to a private address. `unreachable`: a link to a host
   * that does not exist.
   */
  result: oneOf(['empty', 'refused', 'unreachable']),
  /** The real length of the clip. */
  clip_s: seconds(0.1),
  /** The length that is reported for it; `none` reports none. */
  reported_s: either(oneOf(['none']), seconds(0)),
} as const satisfies Readonly<Record<string, Directive<unknown>>>

export type MediaDirectives = {
  readonly [Name in keyof typeof directives]?: Exclude<
    ReturnType<(typeof directives)[Name]['read']>,
    undefined
  >
}

type ReadDirectives = { readonly directives: MediaDirectives } | { readonly problem: string }

const BLOCK = /\[sandbox\b([^\]]*)\]/gi

/**
 * The directives in a prompt, or what is wrong with the first faulty one. Strict, so that a mistyped fault is not a
 * success.
 */
export function readDirectives(prompt: string): ReadDirectives {
  const asked = [...prompt.matchAll(BLOCK)].flatMap(([, block = '']) => block.split(/\s+/).filter(Boolean))
  const read = new Map<string, unknown>()
  for (const pair of asked) {
    const [name = '', ...rest] = pair.split('=')
    if (!isDirective(name)) {
      const known = Object.keys(directives).join(', ')
      return { problem: `The sandbox does not know "${name}". It knows: ${known}.` }
    }
    if (read.has(name)) return { problem: `The sandbox was asked for "${name}" more than once.` }
    const { expected, read: valueOf } = directives[name]
    const value = valueOf(rest.join('='))
    if (value === undefined) return { problem: `The sandbox cannot use "${name}": it must be ${expected}.` }
    read.set(name, value)
  }
  return { directives: Object.fromEntries(read) }
}

function isDirective(name: string): name is keyof typeof directives {
  return Object.hasOwn(directives, name)
}

function whole(max: number, min = 0): Directive<number> {
  return {
    expected: `a whole number from ${min} to ${max}`,
    read: text => numberIn(text, /^\d+$/, { min, max }),
  }
}

function seconds(min: number): Directive<number> {
  return {
    expected: `a number of seconds from ${min} to ${CLIP_SECONDS_MAX}`,
    read: text => numberIn(text, /^\d+(\.\d+)?$/, { min, max: CLIP_SECONDS_MAX }),
  }
}

function numberIn(
  text: string,
  pattern: RegExp,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  const number = Number(text)
  return pattern.test(text) && number >= min && number <= max ? number : undefined
}

function word(): Directive<string> {
  const expected = '1 to 64 letters, digits, dots, hyphens or underscores'
  return { expected, read: text => (/^[\w.-]{1,64}$/.test(text) ? text : undefined) }
}

function flag(): Directive<''> {
  return { expected: 'without a value', read: text => (text === '' ? '' : undefined) }
}

function oneOf<const Word extends string>(words: readonly Word[]): Directive<Word> {
  const expected = words.length === 1 ? `${words[0]}` : `one of ${words.join(', ')}`
  return { expected, read: text => words.find(word => word === text) }
}

function either<Left, Right>(left: Directive<Left>, right: Directive<Right>): Directive<Left | Right> {
  return {
    expected: `${left.expected}, or ${right.expected}`,
    read: text => left.read(text) ?? right.read(text),
  }
}
