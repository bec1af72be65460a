import type { TestGateway } from '../../support/gateway.ts'

/** On each element that the texts below would become as markup. */
export const HOSTILE_MARK = 'data-hostile'

/** Texts that do something on a page that takes them for markup, a link or a template. */
export const HOSTILE_TEXTS = [
  `<img src=x ${HOSTILE_MARK} onerror=alert(1)>`,
  `"><script ${HOSTILE_MARK}>alert(1)</script>`,
  `' autofocus onfocus=alert(1) ${HOSTILE_MARK}='`,
  `javascript:alert(1)//<b ${HOSTILE_MARK}>`,
  `{{constructor.constructor('alert(1)')()}}\${alert(1)}<i ${HOSTILE_MARK}>`,
] as const

/** An id of each kind, by the name of the parameter in the paths of pages. */
export type IdsOfPages = ReadonlyMap<string, string>

/**
 * Fills a gateway with hostile texts in every name, note, id and error that the admin API or a customer can set, and
 * returns what pages with a parameter show.
 */
export async function putHostileData(gateway: TestGateway): Promise<IdsOfPages> {
  const [image, script] = HOSTILE_TEXTS
  const put = async (path: string, body: object) =>
    (await gateway.admin<Readonly<Record<string, string>>>('POST', path, body)) ?? {}
  const ids = new Map<string, string>()
  let key = ''
  for (const [index, text] of HOSTILE_TEXTS.entries()) {
    const { id: account = '' } = await put('accounts', { name: text })
    await put(`accounts/${account}/grants`, { amount_usd: '5', note: text })
    await put(`accounts/${account}/debits`, { amount_usd: '1', note: text })
    const { id: project = '' } = await put(`accounts/${account}/projects`, { name: text })
    const made = await put(`accounts/${account}/keys`, { name: text })
    key = made['key'] ?? ''
    await put('tokens', { name: text, scopes: ['read'] })
    const { id: webhook = '' } = await put('webhooks', {
      url: `https://hooks.example.com/?at=${encodeURIComponent(text)}#${encodeURIComponent(text)}`,
      events: ['books.problem'],
      note: text,
    })
    const { id: user = '' } = await put('users', {
      email: `hostile${index}@example.com`,
      name: text,
      role: 'viewer',
    })
    for (const [name, id] of Object.entries({ account, project, key: made['id'] ?? '', webhook, user }))
      ids.set(name, id)
  }
  // An id has no character of markup.
  const model = 'hostile/a:b@c'
  await gateway.admin('PUT', `models/${model}`, {
    kind: 'chat',
    display_name: image,
    description: script,
    owned_by: script,
    max_output_tokens: 100,
    upstreams: [{ provider: 'sandbox', model: image }],
    pricing: 'free',
  })
  ids.set('model', model)
  await gateway.admin('PUT', 'price-lists/hostile', { factor: '0.5' })
  ids.set('list', 'hostile').set('provider', 'sandbox')
  return new Map([...ids, ...(await callAsCustomer(gateway, key))])
}

/** What a customer can write into records: requests, tags, end users, and jobs. */
async function callAsCustomer(gateway: TestGateway, key: string) {
  const [image, script] = HOSTILE_TEXTS
  const post = async (path: string, body: object) => {
    const reply = await fetch(`${gateway.url}/v1/${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'user-agent': script,
        'x-client-request-id': image,
      },
      body: JSON.stringify(body),
    })
    await reply.arrayBuffer()
    return reply.headers.get('x-request-id') ?? ''
  }
  const messages = [{ role: 'user', content: image }]
  await post('chat/completions', { model: script, messages })
  await post('chat/completions', { model: 'sandbox-chat', messages, max_tokens: 5, [image]: 1 })
  const request = await post('chat/completions', {
    model: 'sandbox-chat',
    messages,
    max_tokens: 5,
    user: script.slice(0, 60),
  })
  await post('videos', { model: 'sandbox-video', prompt: script })
  const jobs = await gateway.admin<{ data: readonly { id: string }[] }>('GET', 'jobs')
  return new Map([
    ['request', request],
    ['job', jobs.data[0]?.id ?? ''],
  ])
}
