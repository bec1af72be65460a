import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { debianProgram } from './support/debian-program.ts'
import { linksOf } from './support/page-links.ts'
import { startGatewayProcess } from './support/gateway-process.ts'
import { PROCESS_START_MS_MAX, until } from './support/until.ts'

const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-installed-'))
const home = join(folder, 'home')
const unit = readFileSync(join(root, 'deploy/tollgate.service'), 'utf8')
/** An installation needs the package registry, and the network may be slow. */
const INSTALL_MS_MAX = 600_000
const environment = {
  HOME: home,
  // The home folder is empty, but what npm has fetched before is not fetched again.
  npm_config_cache: (await run(['npm', 'config', 'get', 'cache'])).trim(),
  npm_config_prefer_offline: 'true',
}
// The first run on a machine fetches the program. Code outside of tests has no time limit.
const systemdAnalyze = await debianProgram('systemd-analyze')

beforeAll(() => mkdirSync(home))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function run(command: string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
  const { cwd = root, env = {} } = options
  const child = Bun.spawn(command, { cwd, env: { ...process.env, ...env }, stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command.join(' ')} exited with ${code}: ${err}${out}`)
  return out
}

/** Starts an installed copy in an empty folder, and makes the first requests with the key that it prints. */
async function tryOut(tollgate: string, name: string, command = [tollgate, 'serve']) {
  const cwd = join(folder, `${name}-tried`)
  const dataDir = join(cwd, 'data')
  mkdirSync(cwd)
  const gateway = await startGatewayProcess(dataDir, environment, { command })
  const printed = () => /sandbox key {2}(\S+)/.exec(gateway.output())?.[1] ?? ''
  await until('the start prints a key', () => printed() !== '', PROCESS_START_MS_MAX)
  const env = { GATEWAY_URL: gateway.url, TOLLGATE_DATA_DIR: dataDir, HOME: home }
  const costs = await run([join(root, 'examples/first-requests.sh'), printed()], { cwd, env })
  const balance = await run([tollgate, 'balance', 'demo'], { cwd, env })
  const exitCode = await gateway.stop()
  const starts = ['image.png', 'clip.mp4'].map(file => readFileSync(join(cwd, file)).toString('latin1', 1, 8))
  return { costs, balance, exitCode, starts }
}

const paid = {
  costs: expect.stringMatching(/^cost: 0\.00\d+ USD\ncost: 0\.04 USD\ncost: 0\.25 USD\n$/) as string,
  balance: expect.stringContaining('4.70') as string,
  exitCode: 0,
  starts: ['PNG\r\n\x1a\n', expect.stringContaining('ftyp') as string],
}

test(
  'a clone of the repository gives a paid answer, image and clip',
  async () => {
    const clone = join(folder, 'clone')
    await run(['git', 'clone', '--quiet', root, clone])

    const start = ['sh', '-c', 'cd "$0" && exec npm start', clone]
    expect(await tryOut(join(clone, 'bin/tollgate'), 'clone', start)).toEqual(paid)
  },
  INSTALL_MS_MAX,
)

describe('the npm package', () => {
  const prefix = join(folder, 'prefix')
  let archive: string
  beforeAll(async () => {
    const clone = join(folder, 'packed')
    await run(['git', 'clone', '--quiet', root, clone])
    await run(['npm', 'pack', '--pack-destination', folder], { cwd: clone, env: environment })
    ;[archive = ''] = [...new Bun.Glob('tollgate-*.tgz').scanSync({ cwd: folder, absolute: true })]
    const global = ['--global', '--prefix', prefix]
    await run(['npm', 'install', ...global, '--no-fund', '--no-audit', archive], {
      cwd: folder,
      env: environment,
    })
  }, INSTALL_MS_MAX)

  test('the npm package has the viewer of the API without its install script, which would report the install to a host', () => {
    const modules = join(prefix, 'lib/node_modules/tollgate/node_modules')
    const scarf = JSON.parse(readFileSync(join(modules, '@scarf/scarf/package.json'), 'utf8')) as {
      readonly scripts: object
    }

    expect(Object.keys(scarf.scripts)).toEqual(['test'])
    expect(existsSync(join(modules, 'swagger-ui-dist/swagger-ui-bundle.js'))).toBe(true)
  })

  test(
    'the npm package gives a paid answer, image and clip, started by the command of the systemd unit',
    async () => {
      const [, tollgate = ''] = /^ExecStart=(.*) serve$/m.exec(unit) ?? []

      expect(tollgate).toStartWith('/opt/tollgate/')
      expect(await tryOut(tollgate.replace('/opt/tollgate', prefix), 'package')).toEqual(paid)
    },
    INSTALL_MS_MAX,
  )

  test(
    'the npm package can be run by npx',
    async () => {
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

      const printed = await run(['npx', '--yes', `./tollgate-${version}.tgz`, '--version'], {
        cwd: folder,
        env: environment,
      })

      expect(printed).toBe(`${version}\n`)
    },
    INSTALL_MS_MAX,
  )

  const filesOf = async (packed: string) =>
    (await run(['tar', 'tzf', packed])).split('\n').map(file => file.replace('package/', ''))

  test('the npm package has no test, no data of tests and no file of this machine', async () => {
    const files = await filesOf(archive)

    expect(files).toContain('src/cli.ts')
    expect(
      files.filter(file =>
        /\.test\.ts$|^test\/|\/test\/|\/bench\/|\/data\/|\/fixtures\/|\/testing\/|\.npmrc|\.key$/.test(file),
      ),
    ).toEqual([])
  })

  test('the npm package has every page, and every file that its pages link to', async () => {
    const files = await filesOf(archive)
    const pages = files.filter(file => /^(docs|examples)\/.*\.md$|^[A-Z]+\.md$/.test(file))

    const links = pages.flatMap(page =>
      linksOf(page).map(target => ({ page, target: target.replace(/\/$/, '') })),
    )

    expect(pages).toEqual(expect.arrayContaining(['README.md', 'SECURITY.md', 'docs/install.md']))
    expect(links.length).toBeGreaterThan(20)
    // The image is built in a clone.
    const absent = links.filter(
      ({ target }) => !files.some(file => file === target || file.startsWith(`${target}/`)),
    )
    expect(absent.filter(({ target }) => target !== 'compose.yaml')).toEqual([])
  })
})

test('systemd accepts every line of the unit', async () => {
  const { path, environment: own } = systemdAnalyze
  const file = join(folder, 'tollgate.service')
  // The program must exist.
  writeFileSync(file, unit.replace('/opt/tollgate/bin/tollgate', '/bin/true'))

  expect(await run(['sh', '-c', 'exec "$0" verify "$1" 2>&1', path, file], { env: own })).toBe('')
})
