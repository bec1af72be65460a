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

/** `1.2.3`, or `npm:name@1.2.3` where one package stands under several names. */
const EXACT = /^(npm:@?[a-z0-9/.-]+@)?\d+\.\d+\.\d+$/

describe('an install next year brings what was tested:', () => {
  test('each package is named with its exact version', () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })

    expect(versions.length).toBeGreaterThan(5)
    expect(versions.filter(([, version]) => !EXACT.test(version))).toEqual([])
  })

  test('the lock file knows the content of each by its hash, and none comes from outside the package registry', () => {
    const astray = locked.filter(
      ([, { integrity, resolved, link }]) =>
        !integrity?.startsWith('sha512-') || resolved !== undefined || link === true,
    )

    expect(locked.length).toBeGreaterThan(20)
    expect(astray).toEqual([])
  })

  test('none runs a script of its own on install but the runtime, which only puts its binary in place', () => {
    const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true)

    expect(scripted.map(([path]) => path)).toEqual(['node_modules/bun'])
  })
})
