import { GatewayError } from '../../domain/errors.ts'
import { formatId } from '../../domain/ids.ts'
import { joinBytes } from '../../protocol/join-bytes.ts'
import { parseJsonObject } from '../../protocol/json/parse-json.ts'
import { BLANK_LINE } from '../../protocol/sse/frame.ts'
import type { StreamDialect, TextDialect } from '../../protocol/text-dialect.ts'
import type { TextCall } from '../text/text-call.ts'

const TOO_SLOW =
  'This request followed the stream of an identical request and was read too slowly. Repeat it to get the whole answer.'

/** The last bytes for a follower that fell too far behind the stream, in the format of its route. */
export function laggedReaderError(
  call: TextCall,
  dialect: TextDialect | StreamDialect,
  nowMs: number,
): Uint8Array<ArrayBuffer> {
  if (!('openStream' in dialect)) return new Uint8Array()
  const request = dialect.readRequest(parseJsonObject(call.body))
  const stream = dialect.openStream(request, {
    model: request.model,
    limits: { inputTokensMax: undefined, outputTokensMax: undefined },
    fallback: { id: formatId('req', call.id), createdAtS: Math.floor(nowMs / 1000) },
  })
  return joinBytes([BLANK_LINE, stream.finish(null, new GatewayError('unavailable', TOO_SLOW))])
}
