import { z } from 'zod'

/** Longer than any job's time to live, so that a job can be made to finish after its deadline. */
const DELAY_MS_MAX = 48 * 3_600_000
const IMAGES_MAX = 32
const POLL_FAILURES_MAX = 1000
/** As long as the longest clip of any engine, and some more. */
const CLIP_SECONDS_MAX = 120

const whole = (most: number) => z.coerce.number().int().min(0).max(most).optional()
const word = z.string().regex(/^[\w.-]{1,64}$/)
const flag = z.literal('').optional()

/**
 * The directives in a prompt for the sandbox, as `[sandbox name=value name …]`. Strict, so that a mistyped fault is not
 * a success.
 */
export const MediaDirectives = z.strictObject({
  /** The submit is refused with this code. */
  reject: word.optional(),
  /** The HTTP status of that refusal; 400 by default. */
  status: z.coerce.number().int().min(400).max(499).optional(),
  retry_after_s: whole(86_400),
  /**
   * Faults of the submit. `unknown`: the sandbox has the job. `lost`: it does not have the job. `hang`: there is no
   * answer, and the sandbox has the job. Also `not_sent` and `no_id`.
   */
  submit: z.enum(['unknown', 'lost', 'hang', 'not_sent', 'no_id']).optional(),
  /** The time from the submit to the end of the job. */
  delay_ms: whole(DELAY_MS_MAX),
  /** The generation fails with this code. */
  fail: word.optional(),
  /** The job never ends. */
  never: flag,
  /** The status of the job while it runs: one that the adapter does not know. */
  upstream_status: word.optional(),
  /** The number of polls that fail before the first one that is answered. */
  poll_failures: whole(POLL_FAILURES_MAX),
  /** The number of images to make, instead of `n`. */
  images: whole(IMAGES_MAX),
  /** The provider does not report how many images it made. */
  uncounted: flag,
  /**
   * Faults of the result. `empty`: no output. `refused`: a link to a private address. `unreachable`: a link to a host
   * that does not exist.
   */
  result: z.enum(['empty', 'refused', 'unreachable']).optional(),
  /** The real length of the clip. */
  clip_s: z.coerce.number().min(0.1).max(CLIP_SECONDS_MAX).optional(),
  /** The length that is reported for it; `none` reports none. */
  reported_s: z.union([z.literal('none'), z.coerce.number().min(0).max(CLIP_SECONDS_MAX)]).optional(),
})
export type MediaDirectives = z.infer<typeof MediaDirectives>

export type ReadDirectives = { readonly directives: MediaDirectives } | { readonly problem: string }

const BLOCK = /\[sandbox\b([^\]]*)\]/gi

/** The directives in a prompt, or what is wrong with the first faulty one. */
export function readDirectives(prompt: string): ReadDirectives {
  const asked = [...prompt.matchAll(BLOCK)].flatMap(([, block = '']) => block.split(/\s+/).filter(Boolean))
  const pairs = asked.map(pair => {
    const [name = '', ...value] = pair.split('=')
    return [name, value.join('=')] as const
  })
  const twice = pairs.find(([name], place) => pairs.findIndex(([other]) => other === name) !== place)
  if (twice !== undefined) return { problem: `The sandbox was asked for "${twice[0]}" more than once.` }
  const read = MediaDirectives.safeParse(Object.fromEntries(pairs))
  return read.success ? { directives: read.data } : { problem: problemOf(read.error) }
}

function problemOf({ issues }: z.ZodError): string {
  const [issue] = issues
  if (issue?.code === 'unrecognized_keys') {
    const known = Object.keys(MediaDirectives.shape).join(', ')
    return `The sandbox does not know "${issue.keys[0]}". It knows: ${known}.`
  }
  return `The sandbox cannot use "${issue?.path.join('.')}": ${issue?.message}.`
}
