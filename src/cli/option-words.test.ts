import { beforeAll, expect, test } from 'bun:test'
import { aDataFolder } from '../../test/support/data-folder.ts'
import { main } from './main.ts'

const dataDir = aDataFolder()
/** A day that is over, and not long ago. */
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
let keyId = ''
let projectId = ''

beforeAll(async () => {
  await tollgate('accounts', 'create', 'ada')
  keyId = idOf(await tollgate('keys', 'create', 'ada', '--json'))
  projectId = idOf(await tollgate('projects', 'create', 'ada', 'web', '--json'))
})

test.each([
  ['usage --by user', '--from is missing; --by needs'],
  ['usage --by user --from DAY', '--account is missing; --by, --tag, --user and --project need an account.'],
  ['usage --by model --account ada --from DAY', '--by must be "user", or "tag:" and'],
  ['usage --from 2020-01-01', '--from must be at most 92 days before now, because there is no --to.'],
  ['usage --tag red', '--tag has the tag "red".'],
  ['usage --cursor x', '--cursor must be the "next" of an earlier page.'],
  ['requests list --to 2026-11-01', '--from is missing; write the time'],
  ['requests list --project web', '--project must be the id of a project'],
  ['requests list --code !', '--code must be the code of an error'],
  ['requests list --model=', '--model must be a name'],
  ['projects usage PROJECT --from DAYT05:00:00Z', '--from must be the start of a day in UTC'],
  ['keys create ada --name=', '--name must be 1 to 100 characters'],
  ['keys rename KEY !', '<name> must be 1 to 100 characters'],
  ['keys set KEY --rpm 5 --for-model=', '--for-model is ""; write a name'],
  ['keys set KEY --rpm 5 --for-model !', '--for-model is "!"; write a name'],
  ['keys set KEY --model !', "option '--model <pattern>' argument '!' is invalid. Write the id of a model"],
  ['keys set KEY --route chat', "argument 'chat' is invalid. Write one of chat_completions, responses"],
  ['keys set KEY --address 10.0.0.1/8', "argument '10.0.0.1/8' is invalid. Write 10.0.0.0/8"],
  ['keys set KEY --budget month=1000000001', 'month=none. The most is 1000000000.'],
  ['keys set KEY', 'give at least one of --model, --route, --address, --expires, --rpm, --tpm,'],
  ['keys set KEY --for-model gpt-x', 'the command changes nothing; give at least one of --model'],
  ['accounts set ada --for-model gpt-x', 'give at least one of --rpm, --tpm, --concurrent, --budget'],
  ['projects set PROJECT', 'give at least one of --rpm, --tpm, --concurrent, --budget'],
  ['key-defaults set --account ada', 'give at least one of --model, --route'],
  ['accounts alert ada 1000000001', '<usd> must be from 0 to 1000000000.'],
  ['grant ada 1000000001 --yes', '<usd> must be above 0 and at most 1000000000.'],
  ['prices set partner --factor 11', '--factor is "11"; write a factor'],
  [
    'prices set partner --price nope=free',
    '--price nope is the price of a model that is not in this catalog',
  ],
  ['webhooks create ftp://example.com', '<url> must be an https:// address'],
  ['webhooks create https://example.com --event x', 'Write one of balance.low, '],
  ['webhooks rotate whk_1 --old-ends-in 30d', 'Write 7d or less: an old secret signs for at most 7 days.'],
  ['grant ada 5 --idempotency-key é', 'Write 1 to 255 visible ASCII characters without spaces.'],
  ['refund req_1 --idempotency-key é', 'Write 1 to 255 visible ASCII characters without spaces.'],
  ['accounts debit ada 5 --idempotency-key é', 'Write 1 to 255 visible ASCII characters without spaces.'],
  ['webhooks set whk_1', 'give at least one of --url, --event, --note, --on, --off'],
  ['admin-tokens create x --scope read --grants-per-day 5', '--grants-per-day needs the scope'],
  ['admin-tokens create x --scope read --expires 2020-01-01', '--expires must be in the future.'],
  ['verify --accept x', '--reason is missing; --accept and --reason belong together.'],
])('a wrong option is named in the words of the command: %s', async (line, words) => {
  const args = line.replace('KEY', keyId).replace('PROJECT', projectId).replace('DAY', YESTERDAY).split(' ')

  const { code, err } = await tollgate(...args)

  expect(err).toContain(words)
  expect(code).toBe(2)
})

test('with --json, the message has the words of the command, and the param is that of the API', async () => {
  const { out } = await tollgate('usage', '--by', 'user', '--json')

  expect(JSON.parse(out)).toMatchObject({
    error: { message: expect.stringMatching(/^--from is missing; --by needs /), param: 'from' },
  })
})

function idOf({ out }: { out: string }): string {
  return (JSON.parse(out) as { id: string }).id
}

async function tollgate(...args: readonly string[]) {
  let [out, err] = ['', '']
  const code = await main(args, {
    version: '0.0.0',
    environment: { TOLLGATE_DATA_DIR: dataDir },
    loadApp: () => import('../app.ts'),
    out: text => (out += text),
    err: text => (err += text),
  })
  return { code, out, err }
}
