import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** A program that can be started, and the variables that it needs. */
export type Program = { readonly path: string; readonly environment: Readonly<Record<string, string>> }

type DebianPackage = {
  readonly debianPackage: string
  readonly version: string
  /** Where the package has the program. The default is `usr/bin` or `usr/sbin`. */
  readonly folder?: string
}

/** The package of each program, and how the program prints its version. If it does, it can load its libraries. */
const programs = {
  nginx: { debianPackage: 'nginx', version: '-v' },
  caddy: { debianPackage: 'caddy', version: 'version' },
  'systemd-analyze': { debianPackage: 'systemd', version: '--version' },
  promtool: { debianPackage: 'prometheus', version: '--version' },
  debootstrap: { debianPackage: 'debootstrap', version: '--version' },
  'redis-server': { debianPackage: 'redis-server', version: '--version' },
  pgbouncer: { debianPackage: 'pgbouncer', version: '--version' },
  // The script in usr/bin starts the browser by its absolute path.
  'chromium-headless-shell': {
    debianPackage: 'chromium-headless-shell',
    version: '--version',
    folder: 'usr/lib/chromium',
  },
} as const satisfies Record<string, DebianPackage>
export type ProgramName = keyof typeof programs

/**
 * The installed program of this name, or the one of its Debian package. The package and its missing
 * dependencies are unpacked into a cache in the home folder, without root and once for all copies of the repository.
 * Throws a sentence with the remedy if that fails, so that no test is left out without notice.
 */
export async function debianProgram(name: ProgramName, cache = defaultCache()): Promise<Program> {
  // Servers are often in a system folder that is not in PATH.
  const installed = Bun.which(name, { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin` })
  if (installed !== null) return { path: installed, environment: {} }
  const folder = join(cache, name)
  if (await runs(name, unpacked(name, folder))) return unpacked(name, folder)
  try {
    await unpackPackage(name, cache, folder)
  } catch (cause) {
    const remedy = `Install ${name}, or run the tests on Debian with access to its packages.`
    throw new Error(`This test needs ${name}, and its Debian package could not be fetched. ${remedy}`, {
      cause,
    })
  }
  if (!(await runs(name, unpacked(name, folder)))) throw new Error(`${name} in ${folder} does not run.`)
  return unpacked(name, folder)
}

/** One cache for each release, because the libraries of another release do not fit. */
export function defaultCache(): string {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1] ?? 'unknown'
  const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(caches, 'tollgate-tests', `${codename}-${process.arch}`)
}

function unpacked(name: ProgramName, folder: string): Program {
  const libraries = globSync('{usr/,}lib/*-linux-gnu*{,/systemd,/pulseaudio}', { cwd: folder }).map(library =>
    join(folder, library),
  )
  const { folder: place = 'usr/{bin,sbin}' }: DebianPackage = programs[name]
  return {
    path: globSync(join(folder, place, name))[0] ?? '',
    environment: {
      ...(libraries.length > 0 && { LD_LIBRARY_PATH: libraries.join(':') }),
      ...(name === 'debootstrap' && { DEBOOTSTRAP_DIR: join(folder, 'usr/share/debootstrap') }),
    },
  }
}

async function runs(name: ProgramName, { path, environment }: Program): Promise<boolean> {
  if (path === '') return false
  const env = { ...process.env, ...environment }
  const child = Bun.spawn([path, programs[name].version], { env, stdout: 'ignore', stderr: 'ignore' })
  return (await child.exited) === 0
}

/** Works in a folder of its own and renames it, so that an interrupted run leaves no half package. */
async function unpackPackage(name: ProgramName, cache: string, folder: string): Promise<void> {
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'fetching-'))
  try {
    for (const path of ['lists/partial', 'archives/partial', 'root'])
      mkdirSync(join(work, path), { recursive: true })
    // The lists of the packages are fetched, too: those of the machine may be missing or name versions that are gone.
    // A list that cannot be fetched is only a warning, because it may be a list of other packages.
    const warnings = await run(['apt-get', ...aptOptions(work), 'update'])
    const only = ['--yes', '--no-install-recommends', '--reinstall', '--download-only']
    await run(['apt-get', ...aptOptions(work), ...only, 'install', programs[name].debianPackage])
    for (const archive of globSync('archives/*.deb', { cwd: work })) {
      await run(['dpkg-deb', '-x', join(work, archive), join(work, 'root')])
    }
    if (unpacked(name, join(work, 'root')).path === '')
      throw new Error(`apt-get found no package ${name}. ${warnings}`)
    await put(name, join(work, 'root'), folder)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Leaves a program that another process has put there meanwhile, because it may be running. */
async function put(name: ProgramName, root: string, folder: string): Promise<void> {
  try {
    renameSync(root, folder)
  } catch {
    if (await runs(name, unpacked(name, folder))) return
    rmSync(folder, { recursive: true, force: true })
    renameSync(root, folder)
  }
}

/** All files of apt are in `work`, so that it needs no root and no lock of the system. */
function aptOptions(work: string): string[] {
  const settings = {
    'Dir::State::lists': join(work, 'lists'),
    'Dir::Cache': work,
    'Dir::Cache::archives': join(work, 'archives'),
    'APT::Sandbox::User': '',
    'Debug::NoLocking': '1',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
  }
  return ['-qq', ...Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`])]
}

/** What the command wrote to standard error. Throws with it if the command fails. */
async function run(command: string[]): Promise<string> {
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe', stdin: 'ignore' })
  const [problems, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  if (code !== 0) throw new Error(`${command[0]} exited with ${code}: ${problems}`)
  return problems
}
