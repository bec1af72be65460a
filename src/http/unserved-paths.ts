/** Paths of other APIs that clients try, each with a sentence that says what to use instead. The first match counts. */
const knownPaths: readonly { readonly path: RegExp; readonly help: string }[] = [
  {
    path: /^\/v1\/complete$/,
    help: 'Text completions are not served. Use POST /v1/messages, with "messages" instead of "prompt".',
  },
  {
    path: /^\/(?:v1\/)?(?:engines\/[^/]+\/)?completions$|^\/openai\/deployments\/[^/]+\/completions$/,
    help: 'Text completions are not served. Use POST /v1/chat/completions, with "messages" instead of "prompt".',
  },
  {
    path: /^\/openai\/deployments(?:\/[^/]+)?$/,
    help: 'Deployments are not served. GET /v1/models lists the models.',
  },
  {
    path: /^\/v1(?:beta|alpha)?\/models\/[^/]+:\w+$/,
    help: 'Use POST /v1/chat/completions, with the name of the model in "model".',
  },
  { path: /^\/api\/(?:chat|generate)$/, help: 'Use POST /v1/chat/completions.' },
  { path: /^\/api\/tags$/, help: 'Use GET /v1/models.' },
  { path: /^\/(?:v1\/)?images\/variations$/, help: 'Use POST /v1/images/edits.' },
  {
    path: /^(?:\/openai)?\/(?:v1\/)?(?:files|uploads)(?:\/|$)/,
    help: 'Files are not served. Send the content inside the request.',
  },
  {
    path: /^\/(?:v1\/)?(?:messages\/)?batches(?:\/|$)/,
    help: 'Batches are not served. Send each request by itself.',
  },
  {
    path: /^\/(?:v1\/)?(?:responses|conversations)\/./,
    help: 'Stored responses are not served. Send the conversation in "input".',
  },
  { path: /^\/(?:v1\/)?conversations$/, help: 'Conversations are not served. Send them in "input".' },
  { path: /^\/(?:v1\/)?(?:audio|realtime)(?:\/|$)/, help: 'Audio routes are not served.' },
  { path: /^\/(?:v1\/)?moderations$/, help: 'Moderations are not served.' },
  {
    path: /^\/(?:v1\/)?(?:assistants|threads|vector_stores)(?:\/|$)/,
    help: 'Assistants, threads and vector stores are not served.',
  },
  { path: /^\/(?:v1\/)?fine_tuning(?:\/|$)/, help: 'Fine-tuning is not served.' },
]

const VERSION = '/v1'
/** The path of a route behind the name of an Azure deployment, which replaces `model`. */
const DEPLOYMENT = /^\/openai\/deployments\/[^/]+(\/.+)$/

/**
 * A sentence for the 404 of an unknown path: the route that its client probably meant, or that there is none. Empty for
 * a path that resembles no route. `served` are the paths of the routes that support the request's method.
 */
export function helpForPath(method: string, path: string, served: ReadonlySet<string>): string {
  const behindDeployment = DEPLOYMENT.exec(path)?.[1]
  if (behindDeployment !== undefined && served.has(VERSION + behindDeployment))
    return `Use ${method} ${VERSION}${behindDeployment}, with the name of the model in "model".`
  const known = knownPaths.find(one => one.path.test(path))
  if (known !== undefined) return known.help
  const meant = [withVersion(path), withoutPrefix(path)].find(one => one !== path && served.has(one))
  return meant === undefined ? '' : `Did you mean ${meant}? Check the base URL of the client.`
}

/** The path with `/v1` once at its start: base URLs often lack it or have it twice. */
export function withVersion(path: string): string {
  if (path.startsWith(`${VERSION}${VERSION}/`)) return path.slice(VERSION.length)
  return path.startsWith(`${VERSION}/`) ? path : VERSION + path
}

/** The path from its last `/v1/` on: `/openai/v1/models` is `/v1/models`. */
function withoutPrefix(path: string): string {
  return path.slice(Math.max(0, path.lastIndexOf(`${VERSION}/`)))
}
