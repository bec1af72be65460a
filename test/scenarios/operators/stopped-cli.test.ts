import { afterAll, beforeAll, expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import { startGatewayProcess, type GatewayProcess } from '../../support/gateway-process.ts'
import { runCli } from '../../support/run-cli.ts'

const dataDir = aDataFolder()
let gateway: GatewayProcess

beforeAll(async () => {
  gateway = await startGatewayProcess(dataDir)
  await runCli(['accounts', 'create', 'ada'], { TOLLGATE_DATA_DIR: dataDir })
  // As a debugger or a full memory does. The process keeps its port and its lock, and answers nothing.
  process.kill(gateway.pid, 'SIGSTOP')
})
afterAll(() => gateway.kill())

test('a command ends with an error when the gateway does not answer within the time limit', async () => {
  const { code, out, err } = await runCli(['balance', 'ada', '--timeout', '1'], {
    TOLLGATE_DATA_DIR: dataDir,
  })

  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toContain(
    `The server at ${gateway.url} did not answer: nothing within 1 s. It may be overloaded or stopped. --timeout SECONDS sets the limit.`,
  )
})

test('a command that moves money says so, because the gateway may continue', async () => {
  const { code, err } = await runCli(['grant', 'ada', '1', '--timeout', '1'], { TOLLGATE_DATA_DIR: dataDir })

  expect(code).toBe(1)
  expect(err).toMatch(/The money may have moved\. Repeat the command with --idempotency-key cli-/)
})
