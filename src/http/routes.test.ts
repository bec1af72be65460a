import { expect, test } from 'bun:test'
import { rejection } from '../../test/support/rejection.ts'
import { routeTable } from './routes.ts'
import type { RequestContext } from './request-context.ts'

const answer = async () => ({ status: 200, headers: {}, body: null })
const { find } = routeTable([
  { path: '/v1/chat/completions', name: 'chat', methods: { POST: answer } },
  { path: '/v1/models', name: 'models', methods: { GET: answer } },
])

const messageFor = async (method: string, path: string) => {
  const error = await rejection(find(method, path).handle({} as RequestContext))
  return (error as Error).message
}

test.each([
  ['POST', '/chat/completions', '/v1/chat/completions'],
  ['POST', '/v1/v1/chat/completions', '/v1/chat/completions'],
  ['GET', '/models', '/v1/models'],
])('the 404 for %s %s names the path with one /v1', async (method, path, meant) => {
  expect(await messageFor(method, path)).toBe(
    `No route matches ${method} ${path}. Did you mean ${meant}? Check the base URL of the client.`,
  )
})

test.each([
  ['POST', '/models'],
  ['GET', '/nothing'],
  ['POST', '/v1/nothing'],
])('the 404 for %s %s names no other path', async (method, path) => {
  expect(await messageFor(method, path)).toBe(`No route matches ${method} ${path}.`)
})
