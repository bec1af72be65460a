import { expect } from 'bun:test'

export type Refusal = {
  readonly status: number
  readonly message: string
  readonly type: string
  readonly code: string
  readonly param?: string
}

/** The error of a reply, after checking its envelope: JSON, a request id, no cost, a message, a type and a code. */
export async function refusalOf(response: Response): Promise<Refusal> {
  const { error } = (await response.json()) as { error: Omit<Refusal, 'status'> }
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
  expect(response.headers.get('x-service-cost-usd')).toBeNull()
  expect(error.message).toMatch(/^\S.*[.]$/s)
  expect(error.type).toBeString()
  return { status: response.status, ...error }
}
