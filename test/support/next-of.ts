import type { Bytes } from '../../src/domain/bytes.ts'
import type { StreamEnd, UpstreamStream } from '../../src/gateway/ports/providers/text-provider.ts'

/** The next bytes of an upstream's stream, or how it ended. */
export async function nextOf(body: UpstreamStream): Promise<Bytes | StreamEnd> {
  return (await body.read()) ?? body.end!
}
