/**
 * npm run fuzz [-- OPTIONS of `schemathesis run`]: sends requests made from the OpenAPI document to a gateway in this
 * process, and checks each reply. Needs Schemathesis: `pip install schemathesis==4.32.5`, or its path in
 * `SCHEMATHESIS`. Exits with 1 if a reply has a 5xx, or differs from the document.
 */
import { spawn } from 'bun'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ADMIN_KEY, startTestGateway } from '../support/gateway.ts'

const program = process.env['SCHEMATHESIS'] ?? 'schemathesis'
/** The checks that hold for every request, valid or not. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
  'negative_data_rejection',
  'ignored_auth',
].join(',')

const gateway = await startTestGateway()
const { id, key } = await gateway.account({ grant: '1000000' })
await gateway.admin('POST', 'accounts', { name: 'ada' })
await gateway.admin('POST', 'accounts/ada/grants', { amount_usd: '1000000' })
const folder = mkdtempSync(join(tmpdir(), 'tollgate-fuzz-'))

const codes = [
  await fuzz('customers', key, '/openapi.json', ['--exclude-path', '/metrics']),
  await fuzz('monitoring', ADMIN_KEY, '/openapi.json', ['--include-path', '/metrics']),
  // A backup writes to any path that the fuzzer makes up. No option of the caller can include it again.
  await fuzz('operators', ADMIN_KEY, '/admin/openapi.json', ['--exclude-path', '/admin/api/backups']),
]
rmSync(folder, { recursive: true, force: true })
let undescribed = false
await gateway.stop().catch((error: unknown) => {
  undescribed = true
  console.error(error)
})
console.error(`The account of the fuzzer was ${id}.`)
process.exit(codes.some(code => code !== 0) || undescribed ? 1 : 0)

async function fuzz(
  name: string,
  bearer: string,
  document: string,
  paths: readonly string[],
): Promise<number> {
  console.error(`— as ${name}`)
  const options = process.argv.slice(2)
  const child = spawn(
    [
      program,
      'run',
      gateway.url + document,
      '--header',
      `Authorization: Bearer ${bearer}`,
      '--checks',
      CHECKS,
      '--phases',
      'examples,coverage,fuzzing',
      '--continue-on-failure',
      // A check of the books is long after tens of thousands of requests.
      '--request-timeout',
      '120',
      ...paths,
      ...options,
    ],
    { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] },
  )
  return child.exited
}
