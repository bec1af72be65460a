import type { TestGateway } from '../../support/gateway.ts'
import { startMailServer, type MailServer } from '../../support/mail-server.ts'
import { json } from '../../support/upstream-replies.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'

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

/** Servers of others whose refusals are hostile texts, and the settings of a gateway that calls them. */
export type HostileServers = {
  readonly provider: Upstream
  readonly mail: MailServer
  readonly settings: Readonly<Record<string, string>>
  stop(): Promise<void>
}

const MAILBOX = 'hostile-contact@example.com'

export async function startHostileServers(): Promise<HostileServers> {
  const [image, script] = HOSTILE_TEXTS
  const provider = startUpstream()
  const error = { message: `${image} ${script}`, type: image, code: script, param: image }
  provider.reply(json({ error }, { status: 400 }))
  const mail = await startMailServer({ refusal: image })
  mail.answers.set(MAILBOX, 550)
  return {
    provider,
    mail,
    settings: {
      TOLLGATE_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      TOLLGATE_MAIL_FROM: 'Gateway <gateway@example.com>',
    },
    stop: async () => {
      provider.close()
      await mail.stop()
    },
  }
}

/** An id of each kind, by the name of the parameter in the paths of pages. */
export type IdsOfPages = ReadonlyMap<string, string>

/**
 * Fills a gateway with hostile texts in every name, note, id and error that the admin API, a customer, a provider or a
 * mail server can set, and returns what pages with a parameter show.
 */
export async function putHostileData(gateway: TestGateway, servers: HostileServers): Promise<IdsOfPages> {
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
  ids.set('list', 'hostile').set('provider', 'refusing')
  await putRefusals(gateway, { account: ids.get('account') ?? '', servers })
  return new Map([...ids, ...(await callAsCustomer(gateway, key))])
}

/** A provider that refuses each request and job, and an account whose mails are refused. */
async function putRefusals(
  gateway: TestGateway,
  { account, servers }: { readonly account: string; readonly servers: HostileServers },
): Promise<void> {
  const base_url = `${servers.provider.baseUrl}/v1`
  const limits = { max_output_tokens: 100 }
  for (const { id, kind, provider, more } of [
    { id: 'refused-chat', kind: 'chat', provider: 'openai-compatible', more: { ...limits, pricing: 'free' } },
    {
      id: 'refused-image',
      kind: 'image',
      provider: 'openai-images',
      more: { pricing: { per_image: '0.01' } },
    },
  ]) {
    const name = kind === 'chat' ? 'refusing' : 'refusing-images'
    await gateway.admin('PUT', `providers/${name}`, { kind: provider, base_url, api_key: 'k' })
    await gateway.admin('PUT', `models/${id}`, {
      kind,
      upstreams: [{ provider: name, model: HOSTILE_TEXTS[0] }],
      ...more,
    })
  }
  await gateway.admin('PATCH', `accounts/${account}`, { contacts: [MAILBOX] })
  await gateway.admin('POST', `accounts/${account}/grants`, { amount_usd: '1', source: 'top_up' })
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
  await post('chat/completions', { model: 'refused-chat', messages, max_tokens: 5 })
  // The newest job, whose page is shown: its reason is the text of the provider.
  await post('images/generations', { model: 'refused-image', prompt: script })
  const jobs = await gateway.admin<{ data: readonly { id: string }[] }>('GET', 'jobs')
  return new Map([
    ['request', request],
    ['job', jobs.data[0]?.id ?? ''],
  ])
}
