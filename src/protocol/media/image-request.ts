import { optionalInteger, requiredName, requiredText } from '../request-fields.ts'

const COUNT_MAX = 10

export type ImageRequest = {
  readonly model: string
  /** May be empty: the model checks it (`EMPTY_PROMPT`). */
  readonly prompt: string
  /** The `n` of the request. It sizes the hold, and never goes to the provider. */
  readonly count: number
}

/** Throws `invalid_field` for a missing model or prompt, and for an `n` that is not an integer from 1 to 10. */
export function readImageRequest(fields: Readonly<Record<string, unknown>>): ImageRequest {
  return {
    model: requiredName(fields['model'], 'model'),
    prompt: requiredText(fields['prompt'], 'prompt'),
    count: optionalInteger(fields['n'], 'n', { min: 1, max: COUNT_MAX }) ?? 1,
  }
}
