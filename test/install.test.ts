import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'bun:test'

const script = resolve(import.meta.dirname, '../scripts/install.mjs')
let root: string

/** A tree with a fake runtime and a fake npm, which records its calls. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-install-'))
  mkdirSync(join(root, 'scripts'))
  cpSync(script, join(root, 'scripts/install.mjs'))
  for (const file of ['package.json', 'package-lock.json']) writeFileSync(join(root, file), '{}')
  program('node_modules/@oven/here/bin', 'bun', 'exit 0')
  program('bin', 'npm', 'echo "$@" >> npm-calls')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function program(folder: string, name: string, body: string): void {
  mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, folder, name), `#!/bin/sh\n${body}\n`)
  chmodSync(join(root, folder, name), 0o755)
}

function install(wanted = 'production') {
  return Bun.spawn(['node', join(root, 'scripts/install.mjs'), wanted], {
    env: { ...process.env, PATH: `${join(root, 'bin')}${delimiter}${process.env['PATH']}` },
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

function lockedBy(owner: { readonly host: string; readonly pid: number }): void {
  mkdirSync(join(root, '.install-lock'))
  writeFileSync(join(root, '.install-lock/owner.json'), JSON.stringify(owner))
}

const wasCalled = () => existsSync(join(root, 'npm-calls'))

async function deadPid(): Promise<number> {
  const child = Bun.spawn(['true'])
  await child.exited
  return child.pid
}

test('an install prints the path of the runtime, and the next install does nothing', async () => {
  const first = install()
  const path = await new Response(first.stdout).text()
  rmSync(join(root, 'npm-calls'))

  const second = await install().exited

  expect(path).toBe(join(root, 'node_modules/@oven/here/bin/bun'))
  expect(second).toBe(0)
  expect(wasCalled()).toBe(false)
})

test('an install for a start keeps the development dependencies of a working copy', async () => {
  await install('all').exited
  writeFileSync(join(root, 'package.json'), '{"version":"2"}')

  await install('production').exited

  const calls = readFileSync(join(root, 'npm-calls'), 'utf8').trim().split('\n')
  expect(calls.map(call => call.includes('--include=dev'))).toEqual([true, true])
})

test('an interrupted install does not block the next one', async () => {
  lockedBy({ host: hostname(), pid: await deadPid() })

  const code = await install().exited

  expect(code).toBe(0)
  expect(wasCalled()).toBe(true)
  expect(existsSync(join(root, '.install-lock'))).toBe(false)
})

test('a stopped install keeps the lock until npm has rolled back', async () => {
  const takesBack = "trap '[ -d .install-lock ] && touch taken-back; exit 143' TERM"
  program('bin', 'npm', `${takesBack}; echo working >&2; while :; do sleep 0.01; done`)
  const installing = install()
  const reader = installing.stderr.getReader()
  for (let text = ''; !text.includes('working');) {
    text += new TextDecoder().decode((await reader.read()).value)
  }

  installing.kill('SIGTERM')

  expect(await installing.exited).toBe(1)
  expect(existsSync(join(root, 'taken-back'))).toBe(true)
  expect(existsSync(join(root, '.install-lock'))).toBe(false)
})

test.each([
  ['this machine', hostname(), process.pid],
  ['another machine on the same disk', 'elsewhere', 1],
])('an install that runs on %s is waited for', async (_, host, pid) => {
  lockedBy({ host, pid })
  const waiting = install()
  const output = await waiting.stderr.getReader().read()
  const calledMeanwhile = wasCalled()

  rmSync(join(root, '.install-lock'), { recursive: true })

  expect(await waiting.exited).toBe(0)
  expect(new TextDecoder().decode(output.value)).toStartWith('Waiting for another install')
  expect(calledMeanwhile).toBe(false)
  expect(wasCalled()).toBe(true)
})
