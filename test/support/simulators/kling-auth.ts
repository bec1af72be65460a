import { createHmac } from 'node:crypto'

/** The API's code for a token that it refuses; undefined for one that it takes. */
export function refusalOfToken(
  authorization: string | undefined,
  keys: { readonly accessKey: string; readonly secretKey: string },
  nowMs: number,
): number | undefined {
  const [, token] = /^Bearer (.+)$/.exec(authorization ?? '') ?? []
  if (token === undefined) return 1001
  const [header = '', claims = '', signature] = token.split('.')
  const expected = createHmac('sha256', keys.secretKey).update(`${header}.${claims}`).digest('base64url')
  if (signature !== expected) return 1002
  const { iss, exp, nbf } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>
  if (iss !== keys.accessKey) return 1002
  if (Number(nbf) * 1000 > nowMs) return 1003
  return Number(exp) * 1000 <= nowMs ? 1004 : undefined
}
