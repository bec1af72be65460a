import { expect } from 'bun:test'

export type Refusal = {
  readonly status: number
  readonly message: string
  readonly type: string
  readonly code: string
  readonly param?: string
}

/** What a reply refuses with, once its envelope is known to be whole: a JSON type, a request id, no cost, a sentence, a type, a code. */
export async function refusalOf(response: Response): Promise<Refusal> {
  const { error } = (await response.json()) as { error: Omit<Refusal, 'status'> }
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
  expect(response.headers.get('x-service-cost-usd')).toBeNull()
  expect(error.message).toMatch(/^\S.*[.]$/s)
  expect(error.type).toBeString()
  return { status: response.status, ...error }
}
