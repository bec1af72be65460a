import { join } from 'node:path'
import { expect, test } from 'bun:test'
import * as replies from '../testing/upstream-replies.ts'
import { startUpstream } from '../testing/upstream.ts'

test('requests go through the proxy in HTTP_PROXY, except to the hosts in NO_PROXY', async () => {
  const proxy = startUpstream()
  const direct = startUpstream()
  proxy.reply(replies.answer('by the proxy'))
  direct.reply(replies.answer('direct'))
  const urls = ['http://provider.invalid/v1/chat', `${direct.baseUrl}/chat`]

  // A machine can have these variables in lower case, too.
  const proxyUrl = new URL(proxy.baseUrl).origin
  const directHost = new URL(direct.baseUrl).host
  const answers = await inChild(urls, {
    HTTP_PROXY: proxyUrl,
    http_proxy: proxyUrl,
    NO_PROXY: directHost,
    no_proxy: directHost,
  })

  expect(answers).toEqual(['by the proxy', 'direct'])
  expect(proxy.requests.map(({ path }) => path)).toEqual(['http://provider.invalid/v1/chat'])
  expect(direct.requests.map(({ path }) => path)).toEqual(['/v1/chat'])
  proxy.close()
  direct.close()
})

/** The runtime reads the proxies when a process starts. Gives the bodies of the responses. */
async function inChild(
  urls: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<unknown> {
  const script = `
    const { fetchClient } = await import(${JSON.stringify(join(import.meta.dir, 'fetch-client.ts'))})
    const { httpRequest } = await import(${JSON.stringify(join(import.meta.dir, 'http-request.ts'))})
    const { Timers } = await import(${JSON.stringify(join(import.meta.dir, '../timers.ts'))})
    const http = fetchClient(new Timers({ monotonicMs: () => performance.now(), after: () => () => {} }))
    const answers = []
    for (const url of ${JSON.stringify(urls)}) {
      const response = await http.send(httpRequest({ method: 'POST', url: new URL(url) }), { body: '{}' })
      answers.push((await response.readAll(1000)).toString())
    }
    console.log(JSON.stringify(answers))`
  const child = Bun.spawn([process.execPath, '-e', script], { env: { ...process.env, ...environment } })
  return JSON.parse(await new Response(child.stdout).text()) as unknown
}
