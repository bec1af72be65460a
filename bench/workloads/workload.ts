/** One kind of request: what the load generator sends, and what the mock upstream answers to it. */
export type Workload = RequestKind & {
  readonly name: string
  /** What clients call the model. */
  readonly model: string
  /** The upstream's JSON answer, the same to every request. */
  readonly answer: string
  /**
   * Where the gateway is asked in another dialect than the upstream speaks. Everybody else, the bare relay too, then gets what the
   * gateway would send on.
   */
  readonly converted?: Converted
}

/** What is sent over and over. */
export type RequestKind = {
  /** Where it is sent; the mock upstream answers there too. */
  readonly path: string
  /** The JSON body on both sides of the number that makes each request a different one. */
  readonly body: { readonly before: string; readonly after: string }
}

export type Converted = RequestKind & {
  /** What the gateway makes of the upstream's answer, but for the cost. */
  expected(cost: string): string
}

/** What clients call the models, and what the upstream does. They differ, so that the gateway has both to rewrite. */
export const MODEL = 'bench-model'
export const UPSTREAM_MODEL = 'bench-model-2026-01-01'
export const EMBEDDING_MODEL = 'bench-embed'
export const EMBEDDING_UPSTREAM_MODEL = 'bench-embed-2026-01-01'

/** The request as it is sent to that peer. */
export function requestFor(peer: { readonly name: string }, workload: Workload): RequestKind {
  return peer.name === 'gateway' ? (workload.converted ?? workload) : workload
}

/** Cuts a body at the place of its number. */
export function aroundNumber(body: string): RequestKind['body'] {
  const [before, after] = body.split('{number}')
  if (before === undefined || after === undefined) throw new Error('The body has no place for a number.')
  return { before, after }
}
