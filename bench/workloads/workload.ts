/** One kind of request: what the load generator sends, and what the mock upstream answers to it. */
export type Workload = {
  readonly name: string
  /** Where it is sent; the mock upstream answers there too. */
  readonly path: string
  /** The JSON body on both sides of the number that makes each request a different one. */
  readonly body: { readonly before: string; readonly after: string }
  /** The upstream's JSON answer, the same to every request. */
  readonly answer: string
}

/** What clients call the model, and what the upstream does. They differ, so that the gateway has both to rewrite. */
export const MODEL = 'bench-model'
export const UPSTREAM_MODEL = 'bench-model-2026-01-01'
