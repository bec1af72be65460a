import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAdmin } from '../../src/app.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Bytes } from '../../src/domain/bytes.ts'

/** The common members of replies. A test that needs other members compares the whole reply. */
export type Answer = {
  readonly id: string
  readonly key: string
  readonly next: string
  readonly data: readonly Row[]
  readonly error: { readonly code: string; readonly message: string; readonly param?: string }
  readonly [name: string]: unknown
}
export type Row = { readonly [name: string]: unknown }

/** The admin API of a new data folder, without a server. `close` removes the folder. */
export async function openAdminCalls() {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-admin-'))
  const admin = await openAdmin(readConfig({ TOLLGATE_DATA_DIR: dataDir }))
  const send = (
    method: string,
    path: string,
    body?: string | Bytes,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    admin.handle(
      new Request(`http://localhost/admin/api/${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      }),
    )
  const sendJson = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    send(method, path, body === undefined ? undefined : JSON.stringify(body), headers)
  return {
    dataDir,
    send,
    /** The reply. Throws for one that is not 200. */
    ok: async (...call: Parameters<typeof sendJson>): Promise<Answer> => {
      const response = await sendJson(...call)
      const answer = (await response.json()) as Answer
      if (response.status !== 200) throw new Error(`${call[0]} ${call[1]}: ${JSON.stringify(answer)}`)
      return answer
    },
    /** The error of a reply, with its status. */
    refusal: async (
      ...call: Parameters<typeof sendJson>
    ): Promise<{ readonly status: number } & Answer['error']> => {
      const response = await sendJson(...call)
      return { status: response.status, ...((await response.json()) as Answer).error }
    },
    close: async () => {
      await admin.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
