import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

type Lock = {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version: string
        readonly integrity?: string
        readonly resolved?: string
        readonly link?: boolean
        readonly hasInstallScript?: boolean
        readonly dev?: boolean
        readonly engines?: { readonly node?: string }
      }
    >
  >
}
type Manifest = {
  readonly version: string
  readonly files: readonly string[]
  readonly engines: { readonly node: string }
} & Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>

const text = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
const read = (file: string) => JSON.parse(text(file)) as unknown

const manifest = read('package.json') as Manifest
/** Without the repository itself, and the console, which is a workspace of it. */
const locked = Object.entries((read('package-lock.json') as Lock).packages).filter(
  ([path]) => !['', 'console', 'node_modules/tollgate-console'].includes(path),
)

/** `1.2.3`, or `npm:name@1.2.3` for a package with several names. */
const EXACT = /^(npm:@?[a-z0-9/.-]+@)?\d+\.\d+\.\d+$/

describe('the packages', () => {
  test('the packages have exact versions', () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })

    expect(versions.length).toBeGreaterThan(5)
    expect(versions.filter(([, version]) => !EXACT.test(version))).toEqual([])
  })

  test('the packages have a hash in the lock file, and come from the package registry', () => {
    const unlocked = locked.filter(
      ([, { integrity, resolved, link }]) =>
        !integrity?.startsWith('sha512-') || resolved !== undefined || link === true,
    )

    expect(locked.length).toBeGreaterThan(20)
    expect(unlocked).toEqual([])
  })

  test('the packages of an installation support every version of Node that the manifest allows', () => {
    const oldest = manifest.engines.node.replace('>=', '')
    const unsupported = locked.filter(
      ([, { dev, engines }]) => dev !== true && !Bun.semver.satisfies(oldest, engines?.node ?? '*'),
    )

    expect(oldest).toBe('20.19.0')
    expect(unsupported).toEqual([])
  })

  test('the packages run no install scripts, except the runtime, which only installs its binary', () => {
    const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true)

    expect(scripted.map(([path]) => path)).toEqual(['node_modules/bun'])
  })
})

describe('the bill of materials', () => {
  test('the bill of materials lists what an installation has, and none of the tools for development', async () => {
    const bill = JSON.parse(await output('npm run sbom --silent')) as {
      readonly components: readonly {
        readonly name: string
        readonly version: string
        readonly purl: string
        readonly hashes: readonly { readonly alg: string }[]
      }[]
    }

    const listed = new Map(bill.components.map(({ name, version }) => [name, version]))
    expect(
      Object.entries(manifest.dependencies).filter(([name, version]) => listed.get(name) !== version),
    ).toEqual([])
    expect(Object.keys(manifest.devDependencies).filter(name => listed.has(name))).toEqual([])
    expect(
      bill.components.filter(
        ({ hashes, purl }) => hashes[0]?.alg !== 'SHA-512' || !purl.startsWith('pkg:npm/'),
      ),
    ).toEqual([])
  })
})

describe('the package', () => {
  test('the package can be published, with a section of the changelog for its version', () => {
    expect(manifest).not.toHaveProperty('private')
    expect(manifest).toMatchObject({ name: 'tollgate', license: 'MIT', bin: { tollgate: 'bin/tollgate' } })
    expect(text('CHANGELOG.md')).toMatch(new RegExp(`^## ${RegExp.escape(manifest.version)}\\b`, 'm'))
  })

  test('the package and the image have no tests, no data of tests and no support of tests', () => {
    const notPacked = manifest.files.filter(path => path.startsWith('!'))
    const notInImage = text('.dockerignore')
      .split('\n')
      .filter(line => line.startsWith('**/'))

    expect(notPacked).toEqual(['!src/**/*.test.ts', '!src/**/fixtures/', '!src/**/testing/'])
    expect(notInImage).toEqual(['**/*.test.ts', '**/fixtures', '**/testing'])
  })

  test('the package runs in the image and in the services with the same version', () => {
    expect(text('compose.yaml')).toContain(`image: tollgate:${manifest.version}\n`)
  })

  test('the package is installed from its file, because nobody has published it under its name', () => {
    const commands = [...text('docs/install.md').matchAll(/`(np[mx] [^`]*tollgate[^`]*)`/g)].map(
      ([, command]) => command,
    )

    expect(commands.length).toBeGreaterThan(1)
    expect(
      commands.filter(command => !command?.split(/\s+/).includes(`./tollgate-${manifest.version}.tgz`)),
    ).toEqual([])
  })
})

/** The standard output of a command in the root of the repository. */
async function output(command: string): Promise<string> {
  return new Response(
    Bun.spawn(command.split(' '), { cwd: `${import.meta.dir}/..`, stderr: 'ignore' }).stdout,
  ).text()
}
