import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { aVisitor, callConsole, outcomeOf } from '../../support/console.ts'
import { ADMIN_KEY, type TestAccount } from '../../support/gateway.ts'
import { aPng, images, startScriptedImages } from '../gateways/image-gateway.ts'

let gateway: Awaited<ReturnType<typeof startScriptedImages>>
let ada: TestAccount
/** A completed job with two images. */
let job: string

beforeEach(async () => {
  gateway = await startScriptedImages()
  ada = await gateway.account({ grant: '10' })
  gateway.media.submitted = images(['one', 'two'])
  await gateway.created(ada.key, { n: 2 })
  const { data } = await gateway.admin<{ data: { id: string }[] }>('GET', 'jobs?limit=1')
  job = data[0]!.id
})
afterEach(() => gateway.stop())

function read(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.url}/admin/api/jobs/${path}`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}`, ...headers },
  })
}

describe('GET jobs/{id}/content/{n}', () => {
  test("an operator gets each image of a customer's job, and a browser shows it and runs nothing", async () => {
    const second = await read(`${job}/content/1`)

    expect(Buffer.from(await second.arrayBuffer())).toEqual(Buffer.from(aPng('two')))
    expect(Object.fromEntries(second.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(aPng('two').length),
      'content-disposition': `inline; filename="${job}-1.png"`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    })
  })

  test('a range, a known file and a range outside of the file get their replies', async () => {
    const part = await read(`${job}/content/0`, { range: 'bytes=1-3' })
    const known = await read(`${job}/content/0`, { 'if-none-match': part.headers.get('etag') ?? '' })
    const outside = await read(`${job}/content/0`, { range: 'bytes=5000-' })

    expect([part.status, await part.text()]).toEqual([206, 'PNG'])
    expect(known.status).toBe(304)
    expect(await outcomeOf(outside)).toBe('416 range_not_satisfiable')
  })

  test.each(['2', '-1', 'x', '0.0', '1e0'])('there is no result %j', async place => {
    expect(await outcomeOf(await read(`${job}/content/${place}`))).toBe('404 not_found')
  })

  test('a job that does not exist has no result', async () => {
    expect(await outcomeOf(await read('img_00000000000000000000000000/content/0'))).toBe('404 not_found')
  })

  test('a file that is missing is reported, and doctor names it', async () => {
    rmSync(join(gateway.dataDir, 'blobs'), { recursive: true })

    const reply = await read(`${job}/content/0`)

    const { checks } = await gateway.admin<{ checks: { detail: string; ok: boolean }[] }>('GET', 'doctor')
    expect(await outcomeOf(reply)).toBe('410 content_archived')
    expect(checks.some(({ ok, detail }) => !ok && detail.includes(job))).toBe(true)
  })

  test('a viewer of the console gets it by the cookie alone, as an image in a page asks for it', async () => {
    const { cookie } = await aVisitor(gateway, { role: 'viewer' })
    const path = `admin/jobs/${job}/content/0`

    const shown = await callConsole(gateway, 'GET', path, { headers: { cookie } })
    const stranger = await callConsole(gateway, 'GET', path)

    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(await outcomeOf(stranger)).toBe('401 not_signed_in')
  })
})
