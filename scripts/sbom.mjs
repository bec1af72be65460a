/**
 * sbom.mjs: prints the software bill of materials of an installation as CycloneDX 1.5 in JSON, from package-lock.json.
 * `npm sbom` refuses a tree with an override that is an alias (https://cyclonedx.org/docs/1.5/json/ has the format).
 */
import { readFileSync } from 'node:fs'

const { name, version, packages } = JSON.parse(
  readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
)
const own = packages['']
/** The repository itself and its workspace. The packages of the console are in its built files, so they are listed. */
const isOwn = (path, { link }) => link === true || !path.includes('node_modules/')
const components = Object.entries(packages)
  .filter(([path, locked]) => !isOwn(path, locked) && !locked.dev && !locked.devOptional)
  .map(([path, locked]) => component({ name: locked.name ?? nameIn(path), ...locked }))
const bill = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: { component: { ...component({ name, version, license: own.license }), type: 'application' } },
  components: [...new Map(components.map(each => [each.purl, each])).values()],
}
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`)

function component({ name, version, license, integrity, optional }) {
  // In a package URL, the @ of a scope is encoded.
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const [algorithm, digest] = integrity?.split('-') ?? []
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    // The binaries of the other platforms are optional.
    scope: optional ? 'optional' : 'required',
    ...(license && { licenses: [{ expression: license }] }),
    ...(algorithm === 'sha512' && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
  }
}

/** `node_modules/a/node_modules/@b/c` is `@b/c`. */
function nameIn(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}
