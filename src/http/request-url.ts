/**
 * The URL of a request, for its path and query. Its host means nothing: a client may call the gateway by a name that is none,
 * and then the runtime tells only the path.
 */
export function requestUrl({ url }: Request): URL {
  return new URL(url.startsWith('/') ? `http://gateway${url}` : url)
}
