import type { ConsoleGateway } from './console-gateway.ts'

export type BusyAccount = { readonly id: string; readonly name: string; readonly key: string }

const CHAT = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 }

/**
 * Fills a gateway with what the pages about requests show: a charged, a failed and a refused request, an image job, and
 * a request with a tag and an end user.
 */
export async function makeBusy({ gateway }: ConsoleGateway): Promise<BusyAccount> {
  const name = 'Lovelace & Co'
  const { id } = await gateway.admin<{ id: string }>('POST', 'accounts', { name })
  await gateway.admin('POST', `accounts/${id}/grants`, { amount_usd: '1', note: 'Welcome' })
  const { key } = await gateway.admin<{ key: string }>('POST', `accounts/${id}/keys`, { name: 'production' })
  const chat = async (body: object, headers: Record<string, string> = {}) =>
    (await gateway.chat(key, body, headers)).text()

  await chat(CHAT)
  await chat({ ...CHAT, user: 'end-user-7' }, { 'x-service-tags': 'team=search' })
  await chat({ ...CHAT, max_tokens: 8_000, n: 100 })
  await chat({ ...CHAT, sandbox: { status: 503 } })
  await fetch(`${gateway.url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-image', prompt: 'A lighthouse', n: 2 }),
  }).then(response => response.text())
  return { id, name, key }
}
