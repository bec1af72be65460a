/**
 * install.mjs production|all: brings node_modules to what package-lock.json names and prints the path of the Bun
 * binary. Only standard output is the path; progress goes to standard error. Does nothing when all is there.
 * Two at once are safe: the second waits for the first.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const lock = join(root, '.install-lock')
/** Who has the lock: a process, and the machine it runs on. */
const owner = join(lock, 'owner.json')
/** Removed by npm with the folder, so a half-made node_modules never counts as installed. */
const stamp = join(modules, '.tollgate-installed.json')
/** Longer than any install seen (17 s cold). An older lock belongs to a process that died, wherever it ran. */
const LOCK_STALE_MS = 300_000
const LOCK_POLL_MS = 200

const wanted = process.argv[2] === 'all' ? 'all' : 'production'
const digest = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(readFileSync(join(root, 'package.json')))
  .digest('hex')

if (!isInstalled()) {
  const release = takeLock()
  try {
    if (!isInstalled()) await install()
  } finally {
    release()
  }
}
if (process.exitCode === undefined) process.stdout.write(bunBinary())

function isInstalled() {
  if (!existsSync(stamp)) return false
  const installed = JSON.parse(readFileSync(stamp, 'utf8'))
  return installed.digest === digest && (installed.scope === 'all' || wanted === 'production')
}

async function install() {
  // `npm ci` empties node_modules first, which would pull the files from under a running gateway; `npm install`
  // with the same lock file only adds what is missing.
  const verb = existsSync(modules) ? ['install', '--no-save'] : ['ci']
  const scope = wanted === 'all' ? ['--include=dev'] : ['--omit=dev']
  process.stderr.write(
    `Installing ${wanted === 'all' ? 'all' : 'runtime'} dependencies from package-lock.json …\n`,
  )
  const startedAtMs = Date.now()
  const status = await npm([...verb, ...scope, '--no-fund', '--no-audit', '--loglevel=error'])
  if (status !== 0) {
    process.stderr.write('npm could not install the dependencies; the lines above say why.\n')
    process.exitCode = 1
    return
  }
  writeFileSync(stamp, JSON.stringify({ digest, scope: wanted }))
  process.stderr.write(`Installed in ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s.\n`)
}

/**
 * Its exit code. A signal ends npm, which then takes back what it did; this waits until it has, so that the lock stays that long. A
 * terminal's Ctrl-C reaches npm by itself.
 */
function npm(args) {
  let interrupted = false
  // Before npm runs: a signal in between would end this process alone.
  process.on('SIGINT', () => (interrupted = true))
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const child = spawn('npm', args, { cwd: root, stdio: ['ignore', 2, 2] })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', code => resolve(interrupted ? undefined : code))
  })
}

function takeLock() {
  let told = false
  for (;;) {
    try {
      mkdirSync(lock)
      writeFileSync(owner, JSON.stringify({ host: hostname(), pid: process.pid }))
      return () => rmSync(lock, { recursive: true, force: true })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (isAbandoned()) {
      rmSync(lock, { recursive: true, force: true })
      continue
    }
    if (!told) process.stderr.write('Waiting for another install to finish …\n')
    told = true
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS)
  }
}

/** Its process is gone, as after Ctrl-C in the middle of an install; or nobody can tell, and it is old. */
function isAbandoned() {
  try {
    const { host, pid } = JSON.parse(readFileSync(owner, 'utf8'))
    if (host === hostname()) return !isAlive(pid)
  } catch {
    // Not written yet, or gone already.
  }
  const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
  return age > LOCK_STALE_MS
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** The platform's own binary, which is there even where npm runs no install scripts; else the launcher package's. */
function bunBinary() {
  const scope = join(modules, '@oven')
  const platforms = existsSync(scope) ? readdirSync(scope) : []
  const candidates = [
    ...platforms.map(name => join(scope, name, 'bin', 'bun')),
    join(modules, 'bun', 'bin', 'bun.exe'),
  ]
  const usable = candidates.find(path => spawnSync(path, ['--revision'], { stdio: 'ignore' }).status === 0)
  if (usable === undefined) {
    process.stderr.write(
      'No Bun binary for this platform was installed; see the supported platforms in README.md.\n',
    )
    process.exit(1)
  }
  return usable
}
