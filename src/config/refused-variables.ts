import type { Environment } from './config.ts'
import { settings } from './settings.ts'

/**
 * Variables of parts that this version does not have. Whoever sets one counts on it, so that a start which ignored it
 * would surprise: money in another place than expected, say.
 */
const notServed: readonly { readonly pattern: RegExp; readonly sentence: string }[] = [
  { pattern: /^DATABASE_URL$/, sentence: 'this version keeps its books in SQLite, in TOLLGATE_DATA_DIR' },
  { pattern: /^REDIS_URL$/, sentence: 'this version keeps answers for replay in its own memory' },
  { pattern: /^S3_[A-Z_]+$/, sentence: 'this version stores no files' },
  {
    pattern:
      /^TOLLGATE_(IMAGE_WAIT_S|VIDEO_WAIT_S|UNKNOWN_SUBMIT_TTL_S|JOB_TTL_S|RETENTION_DAYS|VIDEO_RETENTION_DAYS|ALLOW_PRIVATE_UPSTREAMS)$/,
    sentence: 'this version has no image or video routes',
  },
]

/** As many slips as a mistyped name has at most; names further off belong to other programs. */
const SLIPS_MAX = 2

/** A sentence for each variable that is set but cannot do what its name promises: not served yet, or mistyped. */
export function refusedVariables(environment: Environment): string[] {
  const known = Object.values(settings).map(setting => setting.name)
  const problems: string[] = []
  for (const [name, text] of Object.entries(environment)) {
    if (text === undefined || text.trim() === '' || known.includes(name)) continue
    const reason = notServed.find(({ pattern }) => pattern.test(name))
    if (reason !== undefined) problems.push(`${name} is set, but ${reason.sentence}. Unset it.`)
    else if (name.startsWith('TOL')) {
      const meant = known.find(candidate => slips(name, candidate) <= SLIPS_MAX)
      if (meant !== undefined) problems.push(`${name} is not a setting; ${meant} is. Rename or unset it.`)
    }
  }
  return problems
}

/** The Levenshtein distance: how many letters must be added, dropped or changed to make one name of the other. */
function slips(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let at = 0; at < left.length; at += 1) {
    const next = [at + 1]
    for (let index = 0; index < right.length; index += 1) {
      const changed = (row[index] ?? 0) + (left[at] === right[index] ? 0 : 1)
      next.push(Math.min(changed, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row[right.length] ?? 0
}
