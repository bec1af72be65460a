import { join } from 'node:path'
import { expect, test } from 'bun:test'
import * as replies from '../../../test/support/upstream-replies.ts'
import { startUpstream } from '../../../test/support/upstream.ts'

test('calls go through the proxy that HTTP_PROXY names, and NO_PROXY names the hosts that do without', async () => {
  const proxy = startUpstream()
  const direct = startUpstream()
  proxy.reply(replies.answer('by the proxy'))
  direct.reply(replies.answer('direct'))
  const urls = ['http://provider.invalid/v1/chat', `${direct.baseUrl}/chat`]

  const answers = await inChild(urls, {
    HTTP_PROXY: new URL(proxy.baseUrl).origin,
    NO_PROXY: new URL(direct.baseUrl).host,
  })

  expect(answers).toEqual(['by the proxy', 'direct'])
  expect(proxy.requests.map(({ path }) => path)).toEqual(['http://provider.invalid/v1/chat'])
  expect(direct.requests.map(({ path }) => path)).toEqual(['/v1/chat'])
  proxy.close()
  direct.close()
})

/** The runtime reads the proxies when a process starts. */
async function inChild(
  urls: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<unknown> {
  const script = `
    const { fetchClient } = await import(${JSON.stringify(join(import.meta.dir, 'fetch-client.ts'))})
    const { httpRequest } = await import(${JSON.stringify(join(import.meta.dir, 'http-request.ts'))})
    const { pieceOf } = await import(${JSON.stringify(join(import.meta.dir, '../../../test/support/next-of.ts'))})
    const answers = []
    for (const url of ${JSON.stringify(urls)}) {
      const exchange = fetchClient().begin(httpRequest(new URL(url), new Headers()), '{}')
      await exchange.head()
      answers.push(new TextDecoder().decode(await pieceOf(exchange)))
    }
    console.log(JSON.stringify(answers))`
  const child = Bun.spawn([process.execPath, '-e', script], { env: { ...process.env, ...environment } })
  return JSON.parse(await new Response(child.stdout).text()) as unknown
}
