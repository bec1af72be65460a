/**
 * Builds the console into `console/dist/`: the scripts and styles with a hash of their content in their names, each also
 * compressed, and the page that loads them. scripts/install.mjs runs it when the sources have changed.
 */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = import.meta.dirname
const dist = join(root, 'dist')
/** A smaller file is one packet anyway. */
const COMPRESSED_BYTES_MIN = 512

const built = await Bun.build({
  entrypoints: [join(root, 'src/main.tsx'), join(root, 'src/theme.ts')],
  target: 'browser',
  format: 'esm',
  minify: true,
  splitting: true,
  naming: { entry: '[name]-[hash].[ext]', chunk: 'chunk-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  define: { 'process.env.NODE_ENV': '"production"' },
})

// A folder of its own until it is complete, so that a gateway that starts meanwhile reads no half of it.
const work = mkdtempSync(join(root, 'dist-'))
try {
  const names = []
  for (const file of built.outputs) {
    const name = file.path.replace(/^\.\//, '')
    names.push(name)
    put(name, new Uint8Array(await file.arrayBuffer()))
  }
  const icon = putHashed('icon', 'svg', readFileSync(join(root, 'src/icon.svg'), 'utf8'))
  const styles = putHashed('styles', 'css', stylesheet())
  const page = readFileSync(join(root, 'src/index.html'), 'utf8')
    .replace('ICON', `assets/${icon}`)
    .replace('STYLES', `assets/${styles}`)
    .replace('THEME', `assets/${one(names, /^theme-.*\.js$/)}`)
    .replace('MAIN', `assets/${one(names, /^main-.*\.js$/)}`)
  writeFileSync(join(work, 'index.html'), page)
  rmSync(dist, { recursive: true, force: true })
  renameSync(work, dist)
} finally {
  rmSync(work, { recursive: true, force: true })
}

function put(name: string, bytes: Uint8Array): void {
  const assets = join(work, 'assets')
  mkdirSync(assets, { recursive: true })
  writeFileSync(join(assets, name), bytes)
  if (bytes.length < COMPRESSED_BYTES_MIN) return
  writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }))
  writeFileSync(
    join(assets, `${name}.br`),
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  )
}

function putHashed(name: string, extension: string, text: string): string {
  const hashed = `${name}-${Bun.hash(text).toString(36)}.${extension}`
  put(hashed, new TextEncoder().encode(text))
  return hashed
}

/**
 * The files that main.css imports, each in its layer. Bun's own bundler replaces `light-dark()` by variables and moves
 * the statement with the order of the layers behind them.
 */
function stylesheet(): string {
  const folder = join(root, 'src/styles')
  const main = readFileSync(join(folder, 'main.css'), 'utf8')
  const whole = main.replaceAll(
    /@import '\.\/([\w-]+\.css)' layer\((\w+)\);/g,
    (_, file: string, layer: string) => `@layer ${layer} {${readFileSync(join(folder, file), 'utf8')}}`,
  )
  if (whole.includes('@import'))
    throw new Error("main.css has an import that is not '@import './x.css' layer(y);'")
  return whole
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) ?/g, '$1')
    .replaceAll(': ', ':')
    .replaceAll(';}', '}')
    .trim()
}

function one(names: readonly string[], pattern: RegExp): string {
  const [name, ...others] = names.filter(name => pattern.test(name))
  if (name === undefined || others.length > 0)
    throw new Error(`The build has ${others.length + (name === undefined ? 0 : 1)} files like ${pattern}.`)
  return name
}
