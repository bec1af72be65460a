import type { RequestQuery, RequestReportQuery } from '../../../gateway/ports/requests/request-records.ts'
import { RequestFile, type RequestFileBounds } from './request-file.ts'
import { countsOf, type CountedRefusals } from '../../books/requests/request-counts.ts'
import { countedRequestOf, type RequestValues } from '../../books/requests/request-rows.ts'

/** The first message to the worker. */
export type OpenRequestFile = { readonly path: string; readonly bounds: RequestFileBounds }

/**
 * A call of the worker. The rows of a batch are JSON, which is copied at a third of the cost of objects. The worker
 * also makes the counts of a batch, which take longer than its rows.
 */
export type RecordsCall =
  | {
      readonly call: 'write'
      /** A part of the batch each. */
      readonly rows: readonly string[]
      /** The tokens of the rows. */
      readonly tokens: Float64Array
      readonly refusals: readonly CountedRefusals[]
      readonly alikeRefusals: readonly (readonly [id: string, count: number])[]
      readonly nowMs: number
    }
  | { readonly call: 'list'; readonly query: RequestQuery }
  | { readonly call: 'report'; readonly query: RequestReportQuery }
  | { readonly call: 'find'; readonly id: string }
  | { readonly call: 'sweep'; readonly nowMs: number }
  | { readonly call: 'close' }

/** The answers to the calls, in their order. `damaged` comes before the answer of the call that found the damage. */
export type RecordsReply =
  | { readonly damaged: string }
  | { readonly result: unknown }
  | { readonly failure: string }

let file: RequestFile | undefined

self.addEventListener('message', ({ data }: MessageEvent<OpenRequestFile | RecordsCall>) => {
  if (!('call' in data)) {
    const onDamaged = (damaged: string) => reply({ damaged })
    file = new RequestFile(data.path, { bounds: data.bounds, onDamaged })
    return
  }
  try {
    reply({ result: file === undefined ? undefined : answer(file, data) })
  } catch (error) {
    reply({ failure: error instanceof Error ? error.message : String(error) })
  }
})

function answer(opened: RequestFile, request: RecordsCall): unknown {
  switch (request.call) {
    case 'write': {
      const { tokens, refusals, alikeRefusals, nowMs } = request
      const rows = request.rows.flatMap(text => JSON.parse(text) as RequestValues[])
      const counts = countsOf({ requests: rows.map(countedRequestOf), tokens, refusals })
      return opened.write({ rows, counts, alikeRefusals, nowMs })
    }
    case 'list':
      return opened.list(request.query)
    case 'report':
      return opened.report(request.query)
    case 'find':
      return opened.find(request.id)
    case 'sweep':
      return opened.sweep(request.nowMs)
    case 'close':
      return opened.close()
  }
}

function reply(message: RecordsReply): void {
  postMessage(message)
}
