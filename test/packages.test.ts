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
      }
    >
  >
}
type Manifest = Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>

const read = (file: string) =>
  JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')) as unknown

const manifest = read('package.json') as Manifest
const locked = Object.entries((read('package-lock.json') as Lock).packages).filter(([path]) => path !== '')

/** `1.2.3`, or `npm:name@1.2.3` for a package with several names. */
const EXACT = /^(npm:@?[a-z0-9/.-]+@)?\d+\.\d+\.\d+$/

describe('the packages', () => {
  test('have exact versions', () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })

    expect(versions.length).toBeGreaterThan(5)
    expect(versions.filter(([, version]) => !EXACT.test(version))).toEqual([])
  })

  test('have a hash in the lock file, and come from the package registry', () => {
    const unlocked = locked.filter(
      ([, { integrity, resolved, link }]) =>
        !integrity?.startsWith('sha512-') || resolved !== undefined || link === true,
    )

    expect(locked.length).toBeGreaterThan(20)
    expect(unlocked).toEqual([])
  })

  test('run no install scripts, except the runtime, which only installs its binary', () => {
    const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true)

    expect(scripted.map(([path]) => path)).toEqual(['node_modules/bun'])
  })
})
