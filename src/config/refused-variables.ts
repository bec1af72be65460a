import type { Environment } from './config.ts'
import { settings } from './settings.ts'

/**
 * Variables of features that this version does not have. They are refused, not ignored, because the operator expects an
 * effect: for example, that the ledger is in another database.
 */
const notSupported: readonly { readonly pattern: RegExp; readonly sentence: string }[] = [
  { pattern: /^DATABASE_URL$/, sentence: 'this version stores its data in SQLite, in TOLLGATE_DATA_DIR' },
  { pattern: /^REDIS_URL$/, sentence: 'this version keeps answers for replays in memory' },
  { pattern: /^S3_[A-Z_]+$/, sentence: 'this version stores files in TOLLGATE_DATA_DIR' },
]

/** A name with more differences is taken for a variable of another program. */
const TYPOS_MAX = 2

/** One sentence for each variable that is set without effect, because it is not supported or mistyped. */
export function refusedVariables(environment: Environment): string[] {
  const known = Object.values(settings).map(setting => setting.name)
  const problems: string[] = []
  for (const [name, text] of Object.entries(environment)) {
    if (text === undefined || text.trim() === '' || known.includes(name)) continue
    const reason = notSupported.find(({ pattern }) => pattern.test(name))
    if (reason !== undefined) problems.push(`${name} is set, but ${reason.sentence}. Unset it.`)
    else if (name.startsWith('TOL')) {
      const meant = known.find(candidate => editDistance(name, candidate) <= TYPOS_MAX)
      if (meant !== undefined)
        problems.push(`${name} is not a setting. Did you mean ${meant}? Rename or unset it.`)
    }
  }
  return problems
}

/** The Levenshtein distance: the number of characters to add, remove or change to turn one name into the other. */
function editDistance(left: string, right: string): number {
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
