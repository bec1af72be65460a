import { exactCount } from './exact-count.ts'

/** A message to a tokenizer's worker, and its answer. */
export type CountRequest = { readonly id: number; readonly texts: readonly string[] }
export type CountReply = { readonly id: number; readonly tokens: number }

self.addEventListener('message', ({ data: { id, texts } }: MessageEvent<CountRequest>) => {
  postMessage({ id, tokens: exactCount(texts) } satisfies CountReply)
})
