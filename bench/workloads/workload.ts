/** One kind of request: what the load generator sends, and what the mock upstream answers. */
export type Workload = RequestKind & {
  readonly name: string
  /** The catalog's name of the model. */
  readonly model: string
  /** The upstream's JSON answer to every request. */
  readonly answer: string
  /** The request for the gateway if it converts between dialects. The other peers get the converted request. */
  readonly converted?: Converted
}

/** A request to repeat. */
export type RequestKind = {
  /** The path, also on the mock upstream. */
  readonly path: string
  /** The JSON body before and after the number that makes each request unique. */
  readonly body: { readonly before: string; readonly after: string }
}

export type Converted = RequestKind & {
  /** The expected answer of the gateway with this cost. */
  expected(cost: string): string
}

/** The catalog's names and the upstream's names of the models. They differ, so that the gateway must rewrite both. */
export const MODEL = 'bench-model'
export const UPSTREAM_MODEL = 'bench-model-2026-01-01'
export const EMBEDDING_MODEL = 'bench-embed'
export const EMBEDDING_UPSTREAM_MODEL = 'bench-embed-2026-01-01'

/** The request for this peer. */
export function requestFor(peer: { readonly name: string }, workload: Workload): RequestKind {
  return isGateway(peer) ? (workload.converted ?? workload) : workload
}

function isGateway({ name }: { readonly name: string }): boolean {
  return name === 'gateway' || name === 'limited' || name === 'postgres'
}

/** Splits a body at its number. */
export function aroundNumber(body: string): RequestKind['body'] {
  const [before, after] = body.split('{number}')
  if (before === undefined || after === undefined)
    throw new Error('The body has no placeholder for a number.')
  return { before, after }
}
