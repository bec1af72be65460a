import type { Provider } from '../../domain/catalog/provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers/providers.ts'
import { findJsonObject } from '../../protocol/json/parse-json.ts'
import { addressOf, type SecretOf } from '../http/address.ts'
import type { MediaAnswer, SendMedia } from '../media/media-http.ts'
import { probeAt } from '../media/probe.ts'
import { isOperatorError, readGoogleError } from './google-error.ts'

export const KEY_HEADER = 'x-goog-api-key'

/** The address of a path of the API. The base URL ends with the version: `/v1beta`. */
export function geminiAddress(
  provider: Provider,
  path: string,
  secretOf: SecretOf,
): ReturnType<typeof addressOf> {
  return addressOf(provider, path, secretOf, secret => (secret === undefined ? {} : { [KEY_HEADER]: secret }))
}

/** Requests a page of one model, which costs nothing. Never throws; ends within five seconds. */
export async function probeGemini(
  provider: Provider,
  { send, secretOf }: { readonly send: SendMedia; readonly secretOf: SecretOf },
): Promise<ProbeResult> {
  const address = geminiAddress(provider, '/models', secretOf)
  return probeAt(address, provider, { send, judge, query: { pageSize: '1' } })
}

function judge({ status, body }: MediaAnswer): ProbeResult {
  const error = readGoogleError(body)
  const shown = error?.status === undefined ? `status ${status}` : `status ${status}, code ${error.status}`
  if (
    status === 404 ||
    (error === undefined && (status >= 400 || !Array.isArray(findJsonObject(body)?.['models'])))
  )
    return { ok: false, detail: `Responds, but not like the Gemini API (${shown}).` }
  if (status === 401 || status === 403 || isOperatorError(error))
    return { ok: false, detail: `Refuses its key (${shown}).` }
  return status >= 500
    ? { ok: false, detail: `Responds with an error (${shown}).` }
    : { ok: true, detail: `Responds (${shown}).` }
}
