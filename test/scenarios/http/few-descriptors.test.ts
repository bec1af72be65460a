import { connect, type Socket } from 'node:net'
import { afterAll, expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import { startGatewayProcess } from '../../support/gateway-process.ts'
import { rawRequest } from '../../../src/http1/testing/raw-http.ts'
import { until } from '../../support/until.ts'

const SILENT = 400
const sockets: Socket[] = []

afterAll(() => {
  for (const socket of sockets) socket.destroy()
})

test('400 silent connections do not lock out others under a limit of 256 file descriptors', async () => {
  const gateway = await startGatewayProcess(aDataFolder(), {}, { filesMax: 256 })
  const { hostname, port } = new URL(gateway.url)
  let closed = 0
  for (let count = 0; count < SILENT; count += 1) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    socket.on('close', () => (closed += 1))
    sockets.push(socket)
  }
  await until('the oldest have given way', () => closed >= SILENT - 96)
  await until('the key is printed', () => demoKeyIn(gateway.output()) !== '')

  const response = await rawRequest(gateway.url, 'GET /health/ready HTTP/1.1\r\nhost: h\r\n\r\n')
  const chat = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': demoKeyIn(gateway.output()) },
    body: '{"model":"sandbox-chat","messages":[{"role":"user","content":"Hello"}]}',
  })

  expect(response).toStartWith('HTTP/1.1 200 ')
  expect(chat.status).toBe(200)
  expect(await gateway.stop()).toBe(0)
}, 120_000)

function demoKeyIn(output: string): string {
  return /tg_live_\w+(?=\s)/.exec(output)?.[0] ?? ''
}
