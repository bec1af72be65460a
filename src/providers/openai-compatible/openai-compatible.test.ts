import { describe } from 'bun:test'
import { completeConforms } from '../../../test/conformance/openai-compatible/complete.ts'
import type { OpenHttp } from '../../../test/conformance/openai-compatible/open-http.ts'
import { streamConforms } from '../../../test/conformance/openai-compatible/stream.ts'
import { fetchClient } from '../../http1/client/fetch-client.ts'
import { httpClient } from '../../http1/client/http-client.ts'

describe.each<[string, OpenHttp]>([
  ['over our own sockets', httpClient],
  ['by way of fetch', fetchClient],
])('%s', (_, open) => {
  completeConforms(open)
  streamConforms(open)
})
