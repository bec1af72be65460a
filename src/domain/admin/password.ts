/** Length counts more than signs. Failed tries are slowed down, so this many characters are not found by guessing. */
const PASSWORD_CHARS_MIN = 12
/** A longer text would only take time. */
const PASSWORD_CHARS_MAX = 200
/** Fewer different characters are a pattern. */
const DIFFERENT_MIN = 5

/** What is wrong with a new password; completes the sentence “"password" …”. Undefined if it is good enough. */
export function passwordProblem(password: string, email: string): string | undefined {
  const characters = Array.from(password)
  if (characters.length < PASSWORD_CHARS_MIN) return `must have at least ${PASSWORD_CHARS_MIN} characters`
  if (characters.length > PASSWORD_CHARS_MAX) return `must have at most ${PASSWORD_CHARS_MAX} characters`
  if (new Set(characters).size < DIFFERENT_MIN)
    return `must have at least ${DIFFERENT_MIN} different characters`
  const [local = ''] = email.split('@')
  const rest = password.toLowerCase().replaceAll(email.toLowerCase(), '').replaceAll(local.toLowerCase(), '')
  return rest.length < DIFFERENT_MIN ? 'must not be made of your e-mail address' : undefined
}
