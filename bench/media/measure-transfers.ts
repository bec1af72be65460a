import type { Peer } from '../peers/peer.ts'
import { cpuUsedMs, readCpu } from '../proc.ts'
import { makeClip } from './clip-job.ts'
import { referencesBody } from './image-request.ts'
import { lengthOf, openRaw, readAll, writeAll } from './raw-client.ts'
import { CLIP_BYTES, MEGABYTE, REFERENCE_BYTES } from './sizes.ts'
import type { MediaServers } from './start-media.ts'

/** Megabytes of files that a server moves in a second of CPU time. A reference counts by its size before base64. */
export type TransferSample = { readonly request: string; readonly mbPerCpuSecond: number }

type Transfer = { readonly peer: Peer; readonly bytes: number; readonly send: () => Promise<void> }

/** Transfers of one kind in a round, one after the other. */
const TRANSFERS = 10

/** Moves large files, each kind in each round. */
export async function measureTransfers(
  servers: MediaServers,
  rounds: number,
  logProgress: (line: string) => void,
): Promise<TransferSample[]> {
  const transfers = transfersOf(servers, await makeClip(servers.gateway))
  for (const { send } of Object.values(transfers)) await send()
  const samples: TransferSample[] = []
  for (let round = 1; round <= rounds; round += 1) {
    for (const [request, { peer, bytes, send }] of Object.entries(transfers)) {
      logProgress(`${request}, round ${round} of ${rounds}`)
      const before = readCpu(peer.pid)
      for (let count = 0; count < TRANSFERS; count += 1) await send()
      const cpuMs = cpuUsedMs(before, readCpu(peer.pid))
      samples.push({ request, mbPerCpuSecond: (TRANSFERS * bytes * 1000) / MEGABYTE / cpuMs })
    }
  }
  return samples
}

function transfersOf({ gateway, copy }: MediaServers, clipId: string): Readonly<Record<string, Transfer>> {
  // A model that does not exist is noticed after the reference was stored.
  const unknown = referencesBody(1, REFERENCE_BYTES, 'unknown-model')
  const edit = referencesBody(1, REFERENCE_BYTES)
  const upload = (peer: Peer, body: readonly (Buffer | string)[], status: number): Transfer => ({
    peer,
    bytes: REFERENCE_BYTES,
    send: () => sendBody(peer, body, status),
  })
  return {
    'reference, stored and refused': upload(gateway, unknown, 400),
    'reference, stored and sent on': upload(gateway, edit, 200),
    'reference, bare copy to a file': upload(copy, edit, 200),
    'clip of 100 MB': download(gateway, `/v1/videos/${clipId}/content`),
    'clip, bare copy from a file': download(copy, '/clip'),
  }
}

async function sendBody(peer: Peer, body: readonly (Buffer | string)[], status: number): Promise<void> {
  const socket = await openRaw(peer, { method: 'POST', path: '/v1/images/edits', bodyBytes: lengthOf(body) })
  const reply = readAll(socket)
  await writeAll(socket, body)
  const text = await reply
  if (!text.startsWith(`HTTP/1.1 ${status} `))
    throw new Error(`A reference was answered with ${text.slice(0, 500)}`)
}

function download(peer: Peer, path: string): Transfer {
  return {
    peer,
    bytes: CLIP_BYTES,
    async send() {
      const socket = await openRaw(peer, { method: 'GET', path })
      let length = 0
      socket.on('data', bytes => (length += bytes.length))
      await new Promise(resolve => {
        socket.once('close', resolve)
      })
      if (length < CLIP_BYTES) throw new Error(`Only ${length} bytes of the clip arrived.`)
    },
  }
}
