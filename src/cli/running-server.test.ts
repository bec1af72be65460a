import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { until } from '../../test/support/until.ts'
import { ownBooks, spawned, startServer } from '../../test/support/cli-commands.ts'
import { aDataFolder } from '../../test/support/data-folder.ts'
import { farFromMidnight } from '../../test/support/far-from-midnight.ts'
import { addUsd, usd } from '../domain/money.ts'

const home = aDataFolder()

describe('on a running server', () => {
  test('usage is a list, and as CSV has every charged request and job with their account', async () => {
    const dataDir = join(home, 'usage')
    const folder = { TOLLGATE_DATA_DIR: dataDir }
    const server = await startServer(dataDir)
    const { url } = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')) as { url: string }
    const key = (await spawned(['keys', 'create', 'demo'], folder)).out.trim()
    const post = (path: string, body: object) =>
      fetch(`${url}/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const chat = await post('chat/completions', {
      model: 'sandbox-chat',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    const image = await post('images/generations', { model: 'sandbox-image', prompt: 'A fox' })
    await Promise.all([chat.text(), image.text()])
    const yesterday = new Date(Date.now() - 86_400_000).toISOString()

    const listed = await spawned(['usage', '--account', 'demo', '--from', yesterday], folder)
    const csv = await spawned(['usage', '--csv'], folder)
    const charge = chat.headers.get('x-request-id')!
    await spawned(['refund', charge, '--amount', '0.000001'], folder)
    const refunded = await spawned(['usage', '--account', 'demo', '--from', yesterday], folder)
    const refundedCsv = await spawned(['usage', '--csv'], folder)
    const none = await spawned(
      ['usage', '--csv', '--from', '2020-01-01T00:00:00Z', '--to', '2020-01-02T00:00:00Z'],
      folder,
    )
    const wrong = await spawned(['usage', '--csv', '--from', 'yesterday'], folder)
    server.kill('SIGTERM')
    await server.exited

    expect(listed.out).toMatch(/sandbox-image +1 images +0\.\d+ +0\n.*sandbox-chat +\d+ \+ \d+ tokens/)
    expect(listed.out).toMatch(
      /\n\nCharges: 2\. Cost: 0\.\d+ USD\.\nProvider cost: 0 USD\. Margin: 0\.\d+ USD\.\n/,
    )
    const [head, imageLine, chatLine, end, ...others] = csv.out.split('\r\n')
    expect(head).toStartWith('id,created_at,account,account_name,key,route,model,provider,input_tokens,')
    expect(head).toContain(',cost_usd,provider_cost_usd,source,')
    expect(imageLine).toMatch(/^img_\w+,20\S+,acct_\w+,demo,key_\w+,images\S*,sandbox-image,/)
    expect(chatLine).toMatch(/^req_\w+,20\S+,acct_\w+,demo,key_\w+,chat,sandbox-chat,/)
    expect([end, others]).toEqual(['', []])
    expect(refunded.out).toContain(` refund of ${charge}  -0.000001  –\n`)
    const [, net = '', given] = /Cost: (\S+) USD, net of refunds of (\S+) USD\.\n/.exec(refunded.out) ?? []
    const [refundHead, refundLine, ...chargeLines] = refundedCsv.out.trimEnd().split('\r\n')
    expect(refundHead).toBe(head)
    expect(refundLine).toMatch(
      /^op_\w+,20\S+,acct_\w+,demo,key_\w+,chat,sandbox-chat,sandbox,{20}-0.000001,,,,req_\w+,,,$/,
    )
    expect(chargeLines).toEqual([imageLine!, chatLine!])
    const costColumn = refundHead!.split(',').indexOf('cost_usd')
    const costs = [refundLine!, ...chargeLines].map(line => usd(line.split(',')[costColumn]!))
    expect(given).toBe('0.000001')
    expect(usd(net)).toBe(costs.reduce(addUsd))
    expect(none.out.split('\r\n')).toEqual([head!, ''])
    expect(wrong).toMatchObject({ code: 2, out: '' })
    expect(wrong.err).toContain('Write a day in UTC such as 2026-11-01, or a time')
  }, 120_000)

  test('commands use its admin API, and two signals stop it once, with 0', async () => {
    const dataDir = join(home, 'running')
    const folder = { TOLLGATE_DATA_DIR: dataDir }
    const server = await startServer(dataDir)

    // The admin key must not be sent to a proxy.
    const proxied = { ...folder, HTTP_PROXY: 'http://127.0.0.1:9' }
    const created = await spawned(['accounts', 'create', 'ada', '--grant', '3', '--json'], proxied)
    const listed = await spawned(['accounts', 'list'], folder)
    const where = await spawned(['doctor', '--json'], folder)
    const wrongKey = await spawned(['balance', 'ada'], { ...folder, TOLLGATE_ADMIN_KEY: 'another-key' })
    const second = await spawned(['serve'], { ...folder, TOLLGATE_PORT: '0' })
    // However busy the machine is, both signals arrive at the same time.
    for (const signal of ['SIGSTOP', 'SIGTERM', 'SIGINT', 'SIGCONT'] as const) server.kill(signal)

    expect(JSON.parse(created.out)).toMatchObject({ name: 'ada', available_usd: '3' })
    expect(listed.out).toMatch(/^ada +acct_\w+ +3 +0 +active$/m)
    expect(JSON.parse(where.out)).toMatchObject({ ok: true, server: expect.stringMatching(/^http:/) })
    expect(wrongKey.code).toBe(1)
    expect(wrongKey.err).toContain('Set TOLLGATE_ADMIN_KEY')
    expect(second.code).toBe(1)
    expect(second.err).toContain('in use by another tollgate process')
    expect(await server.exited).toBe(0)
    expect(existsSync(join(dataDir, 'server.json'))).toBe(false)
    expect((await spawned(['balance', 'ada'], folder)).out).toStartWith('available  3 USD')
  }, 120_000)

  test('a token in TOLLGATE_ADMIN_KEY gives a command its rights, until it is revoked', async () => {
    await farFromMidnight()
    const dataDir = join(home, 'tokens')
    const folder = { TOLLGATE_DATA_DIR: dataDir }
    await spawned(['accounts', 'create', 'ada'], folder)
    const server = await startServer(dataDir)
    const bookkeeper = [
      'create',
      'bookkeeper',
      '--scope',
      'grants',
      '--grants-per-day',
      '50',
      '--expires',
      '90d',
    ]

    const created = await spawned(['admin-tokens', ...bookkeeper], folder)
    const withToken = { ...folder, TOLLGATE_ADMIN_KEY: created.out.trim() }
    const granted = await spawned(['grant', 'ada', '40'], withToken)
    const above = await spawned(['grant', 'ada', '11'], withToken)
    const usage = await spawned(['usage'], withToken)
    const listed = await spawned(['admin-tokens', 'list'], folder)
    const revoked = await spawned(['admin-tokens', 'revoke', created.out.trim()], folder)
    const refused = await spawned(['balance', 'ada'], withToken)
    const audit = await spawned(['audit'], folder)
    server.kill('SIGTERM')
    await server.exited
    const alone = await spawned(['balance', 'ada'], withToken)
    const started = await spawned(['serve'], { ...withToken, TOLLGATE_PORT: '0' })

    expect(created.out).toMatch(/^tg_admin_[0-9A-Za-z]{43}\n$/)
    expect(created.err).toMatch(/The id of this token is tok_\w+\. It expires at 20/)
    expect(granted.out).toStartWith('Credited 40 USD.')
    expect(above).toMatchObject({ code: 1, err: expect.stringContaining('the rest of 10 USD') })
    expect(usage.err).toContain(
      'needs an admin token with the scope "read". The token has the scope "grants".',
    )
    expect(usage.err).toContain('Set TOLLGATE_ADMIN_KEY to the admin key, or to a token that may do this.')
    expect(listed.out).toMatch(
      /tg_admin_\w{4}… +tok_\w+ +bookkeeper +grants \(40 of 50 USD today\) .* active/,
    )
    expect(revoked.out).toMatch(/^Revoked bookkeeper, tg_admin_\w{4}… \(tok_/)
    expect(refused.err).toContain('was revoked at')
    expect(audit.out).toMatch(/token:bookkeeper \(tok_\w+\) +account\.grant/)
    for (const { code, err } of [alone, started]) {
      expect(code).toBe(1)
      expect(err).toContain('TOLLGATE_ADMIN_KEY is the admin token "bookkeeper"')
      expect(err).not.toContain(created.out.trim())
    }
  }, 120_000)

  test('a stop logs what it waits for, and a second signal ends it at once', async () => {
    const dataDir = join(home, 'impatient')
    const server = await startServer(dataDir)
    const { url } = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')) as { url: string }
    const log = server.stdout.pipeThrough(new TextDecoderStream()).getReader()
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    const key = readFileSync(join(dataDir, 'admin.key'), 'utf8').trim()
    socket.write('POST /admin/api/accounts HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\n')
    socket.write(`authorization: Bearer ${key}\r\ncontent-length: 100\r\n\r\n`)
    // The gateway waits for the body of this request now.
    await once(socket, 'data')

    server.kill('SIGTERM')
    let text = ''
    while (!text.includes('"stopping"')) text += (await log.read()).value ?? ''
    await until('a later signal has ended it', () => {
      server.kill('SIGTERM')
      return server.exitCode !== null
    })

    expect(text).toContain('"running_requests":1')
    expect(server.exitCode).toBe(1)
    socket.destroy()
  })

  test('standard output has only the log, with and without --json', async () => {
    const server = await startServer(join(home, 'log'), ['--json'])
    server.kill('SIGTERM')

    const lines = (await new Response(server.stdout).text()).trimEnd().split('\n')

    expect(lines.map(line => (JSON.parse(line) as { message: string }).message)).toEqual([
      'listening',
      ...(ownBooks.length === 0 ? [] : ['this start created new books, and there are others']),
      'stopping',
      'stopped',
    ])
  })

  test('a server outlives the reader of its log, and still stops with 0', async () => {
    const dataDir = join(home, 'unread')
    const server = await startServer(dataDir)
    const { url } = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')) as { url: string }
    await server.stdout.cancel()

    const statuses: number[] = []
    for (let asked = 0; asked < 3; asked += 1) {
      statuses.push((await fetch(`${url}/v1/models`)).status)
      // Log lines are written later. This command delays the next request until after that.
      await spawned(['balance', 'demo'], { TOLLGATE_DATA_DIR: dataDir })
    }
    server.kill('SIGTERM')

    expect(statuses).toEqual([401, 401, 401])
    expect(await server.exited).toBe(0)
  })

  test('a port in use is named', async () => {
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    const port = String(taken.port)

    const { code, err } = await spawned(['serve'], {
      TOLLGATE_DATA_DIR: join(home, 'port'),
      TOLLGATE_PORT: port,
    })
    await taken.stop(true)

    expect(code).toBe(1)
    expect(err).toContain(`Port ${port} on 127.0.0.1 is in use by another program.`)
  })

  test('an address of another machine is named', async () => {
    const { code, err } = await spawned(['serve'], {
      TOLLGATE_DATA_DIR: join(home, 'address'),
      TOLLGATE_HOST: '999.1.1.1',
    })

    expect(code).toBe(1)
    expect(err).toContain('Cannot listen on 999.1.1.1, port 8787')
    expect(err).toContain('TOLLGATE_HOST')
  })

  test('if the port of a first start is in use, the next start creates and shows the keys', async () => {
    const dataDir = join(home, 'second-try')
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    await spawned(['serve'], { TOLLGATE_DATA_DIR: dataDir, TOLLGATE_PORT: String(taken.port) })
    await taken.stop(true)

    const server = await startServer(dataDir)
    server.kill('SIGTERM')
    const shown = await new Response(server.stderr).text()

    expect(shown).toMatch(/sandbox key +tg_live_/)
    expect(shown).toMatch(/admin key +tg_admin_/)
  })
})
