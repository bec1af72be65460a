/**
 * install.mjs production|all: installs the packages of package-lock.json into node_modules, builds the console, and
 * prints the path of the Bun binary to standard output. Progress goes to standard error. Does nothing if everything is
 * installed and built. Concurrent runs are safe: the second waits for the first. In a package that npm has installed, it
 * only prints the path.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
/** As a package, Tollgate has no lock file. npm installed its dependencies together with it. */
const isPackage = basename(dirname(root)) === 'node_modules'
const lock = join(root, '.install-lock')
/** The owner of the lock: a process and its machine. */
const owner = join(lock, 'owner.json')
/** npm removes this file together with the folder, so an incomplete node_modules never counts as installed. */
const stamp = join(modules, '.tollgate-installed.json')
/** Much longer than an install (17 s without a cache). An older lock belongs to a process that died. */
const LOCK_STALE_MS = 300_000
const LOCK_POLL_MS = 200

const wanted = process.argv[2] === 'all' ? 'all' : 'production'
const digest = isPackage ? undefined : digestOf('package-lock.json', 'package.json')
const consoleFolder = join(root, 'console')
/** What the console was built from. */
const consoleStamp = join(consoleFolder, 'dist/sources.sha256')
const consoleDigest = isPackage ? undefined : digestOfConsole()

if (!isPackage && !(isInstalled() && isConsoleBuilt())) {
  const release = takeLock()
  try {
    if (!isInstalled()) await install()
    if (process.exitCode === undefined && !isConsoleBuilt()) buildConsole()
  } finally {
    release()
  }
}
if (process.exitCode === undefined) process.stdout.write(bunBinary())

/** Of the sources of the console and of its packages. Undefined without them, as in a part of a working copy. */
function digestOfConsole() {
  const sources = join(consoleFolder, 'src')
  if (!existsSync(join(consoleFolder, 'build.ts')) || !existsSync(sources)) return undefined
  const files = readdirSync(sources, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.name.endsWith('.d.ts'))
    .map(entry => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
  return digestOf('console/build.ts', 'console/package.json', 'package-lock.json', ...files.sort())
}

function isConsoleBuilt() {
  if (consoleDigest === undefined) return true
  return existsSync(consoleStamp) && readFileSync(consoleStamp, 'utf8') === consoleDigest
}

/** A gateway without its console still serves, so a failure is only reported. */
function buildConsole() {
  const startedAtMs = Date.now()
  const build = spawnSync(bunBinary(), [join(consoleFolder, 'build.ts')], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (build.status !== 0) {
    process.stderr.write('The console could not be built. See the lines above for the reason.\n')
    return
  }
  writeFileSync(consoleStamp, consoleDigest)
  process.stderr.write(`Built the console in ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s.\n`)
}

function digestOf(...files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

function isInstalled() {
  const installed = lastInstall()
  return installed?.digest === digest && (installed.scope === 'all' || wanted === 'production')
}

function lastInstall() {
  return existsSync(stamp) ? JSON.parse(readFileSync(stamp, 'utf8')) : undefined
}

async function install() {
  // `npm ci` empties node_modules first, which would remove the files of a running gateway. `npm install` with the same
  // lock file only adds what is missing.
  const verb = existsSync(modules) ? ['install', '--no-save'] : ['ci']
  // A start in a working copy keeps what its tests need.
  const scope = wanted === 'all' || lastInstall()?.scope === 'all' ? 'all' : 'production'
  process.stderr.write(
    `Installing ${scope === 'all' ? 'all' : 'runtime'} dependencies from package-lock.json …\n`,
  )
  const startedAtMs = Date.now()
  const status = await npm([
    ...verb,
    scope === 'all' ? '--include=dev' : '--omit=dev',
    '--no-fund',
    '--no-audit',
    '--loglevel=error',
  ])
  if (status !== 0) {
    process.stderr.write('npm could not install the dependencies. See the lines above for the reason.\n')
    process.exitCode = 1
    return
  }
  writeFileSync(stamp, JSON.stringify({ digest, scope }))
  process.stderr.write(`Installed in ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s.\n`)
}

/**
 * Runs npm and resolves with its exit code, or undefined after Ctrl-C. After a signal, npm rolls back its changes. This
 * function waits for that, so that the lock is kept meanwhile. The terminal sends Ctrl-C to npm, too.
 */
function npm(args) {
  let interrupted = false
  // Installed before npm starts, because a signal before that would end only this process.
  process.on('SIGINT', () => (interrupted = true))
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const child = spawn('npm', args, { cwd: root, stdio: ['ignore', 2, 2] })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', code => resolve(interrupted ? undefined : code))
  })
}

function takeLock() {
  let hasLogged = false
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
    if (!hasLogged) process.stderr.write('Waiting for another install to finish …\n')
    hasLogged = true
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS)
  }
}

/** Whether the owner of the lock has ended, or the lock is old and its owner is unknown. */
function isAbandoned() {
  try {
    const { host, pid } = JSON.parse(readFileSync(owner, 'utf8'))
    if (host === hostname()) return !isAlive(pid)
  } catch {
    // The file is not written yet, or is already removed.
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

/** The binary of the platform package, which exists even if npm runs no install scripts, or the launcher package's. */
function bunBinary() {
  const candidates = (isPackage ? [modules, dirname(root)] : [modules]).flatMap(binariesIn)
  const usable = candidates.find(path => spawnSync(path, ['--revision'], { stdio: 'ignore' }).status === 0)
  if (usable === undefined) {
    process.stderr.write(
      'npm installed no Bun binary for this platform. README.md lists the supported platforms.\n',
    )
    process.exit(1)
  }
  return usable
}

function binariesIn(folder) {
  const scope = join(folder, '@oven')
  const platforms = existsSync(scope) ? readdirSync(scope) : []
  return [...platforms.map(name => join(scope, name, 'bin', 'bun')), join(folder, 'bun', 'bin', 'bun.exe')]
}
