import { RefusedError } from './fetch-error.ts'

/** Few servers accept longer ones. */
const URL_CHARS_MAX = 8192

/**
 * Reads a URL, which may be relative to the one that redirects to it. Throws a `RefusedError` for one that is not
 * fetched.
 */
export function untrustedUrl(text: string, base?: URL): URL {
  if (text.length > URL_CHARS_MAX) throw new RefusedError(`the URL has more than ${URL_CHARS_MAX} characters`)
  const url = URL.parse(text, base?.href)
  if (url === null) throw new RefusedError('the URL is not valid')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new RefusedError('the URL is neither http nor https')
  }
  if (url.username !== '' || url.password !== '') {
    throw new RefusedError('the URL has a user name or a password')
  }
  return url
}
