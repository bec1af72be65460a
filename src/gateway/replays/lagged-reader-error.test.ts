import { sentText } from '../../../test/support/sent-text.ts'
import { expect, test } from 'bun:test'
import { chatDialect } from '../../protocol/chat/dialect.ts'
import { responsesDialect } from '../../protocol/responses/dialect.ts'
import type { TextCall } from '../text/text-call.ts'
import { laggedReaderError } from './lagged-reader-error.ts'

const decoder = new TextDecoder()

function aCall(body: object): TextCall {
  const ada = {
    id: 1,
    publicId: 'acct_1',
    name: 'ada',
    sandboxOnly: false,
    createdAtMs: 0,
    suspendedAtMs: null,
  }
  const apiKey = {
    id: 1,
    publicId: 'key_1',
    accountId: 1,
    name: 'default',
    prefix: 'tg_live_abcd',
    createdAtMs: 0,
    revokedAtMs: null,
  }
  return {
    id: { key: 1n, tail: 2n },
    caller: { account: ada, apiKey },
    body: sentText(JSON.stringify(body)),
    client: { signal: new AbortController().signal },
    trace: {},
  }
}

test('a dropped follower of a chat stream gets an error and no [DONE]', () => {
  const call = aCall({ model: 'gpt-x', messages: [], stream: true })

  const last = decoder.decode(laggedReaderError(call, chatDialect, 0))

  expect(last).toStartWith('\n\ndata: {"error":{')
  expect(last).toContain('"code":"unavailable"')
  expect(last).not.toContain('[DONE]')
})

test('a dropped follower of a responses stream gets a failed response', () => {
  const call = aCall({ model: 'gpt-x', input: 'Hi', stream: true })

  const last = decoder.decode(laggedReaderError(call, responsesDialect, 0))

  expect(last).toStartWith('\n\nevent: response.failed\ndata: {')
  expect(last).toContain('"code":"unavailable"')
})
