import { cpSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { debianProgram } from '../support/debian-program.ts'
import { variablesOf, type Instruction } from './dockerfile.ts'

/** A folder with the files of an image, and what its instructions have set. */
export type Root = {
  readonly folder: string
  readonly variables: Record<string, string>
  user: string
  workDir: string
}

export type Files = {
  /** The files that `COPY` takes. */
  readonly context: string
  /** The earlier stages by their names. */
  readonly stages: ReadonlyMap<string, Root>
}

/** Runs a command with this process's output. Throws if it fails. */
export function run(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): void {
  const { exitCode } = Bun.spawnSync([...command], { env, stdout: 'inherit', stderr: 'inherit' })
  if (exitCode !== 0) throw new Error(`${command.join(' ')} exited with ${exitCode}.`)
}

/** Makes a minimal Debian in a new folder. Needs root and Debian's packages. */
export async function makeDebian(parent: string, release: string): Promise<string> {
  const { path, environment } = await debianProgram('debootstrap')
  const folder = join(parent, 'debian')
  run([path, '--variant=minbase', release, folder], { ...process.env, ...environment })
  // The name servers of this machine, as a container has them.
  cpSync('/etc/resolv.conf', join(folder, 'etc/resolv.conf'), { dereference: true })
  return folder
}

/** A copy of a minimal Debian. For an image of Node.js, with the Node.js and the npm of this machine. */
export function rootFrom(debian: string, image: string): Root {
  const folder = mkdtempSync(`${debian}-`)
  run(['cp', '-a', `${debian}/.`, folder])
  if (image.startsWith('node:')) addNode(folder)
  else if (!image.startsWith('debian:')) throw new Error(`There is no replacement for the image ${image}.`)
  return {
    folder,
    variables: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    user: '0',
    workDir: '/',
  }
}

function addNode(folder: string): void {
  const npm = resolve(Bun.spawnSync(['npm', 'root', '--global']).stdout.toString().trim(), 'npm')
  cpSync(Bun.which('node') ?? '', join(folder, 'usr/local/bin/node'), { dereference: true })
  cpSync(npm, join(folder, 'usr/local/lib/npm'), { recursive: true })
  writeFileSync(
    join(folder, 'usr/local/bin/npm'),
    '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npm-cli.js "$@"\n',
    { mode: 0o755 },
  )
  // The certificates of a proxy in front of the package registry.
  const certificates = process.env['NODE_EXTRA_CA_CERTS'] ?? ''
  if (existsSync(certificates)) cpSync(certificates, join(folder, certificates), { dereference: true })
}

/** Carries out one instruction. Those that describe the start of the container have no effect here. */
export function apply(instruction: Instruction, root: Root, files: Files): void {
  const { name, text } = instruction
  switch (name) {
    case 'RUN':
      // Proxies and the package registry are settings of the build, as with `docker build`.
      return run(inRoot(root, ['sh', '-ec', text]), { ...process.env, HOME: '/root', ...root.variables })
    case 'COPY':
      return copy(text, root, files)
    case 'ENV':
      return void Object.assign(root.variables, variablesOf(instruction))
    case 'USER':
      root.user = text
      return
    case 'WORKDIR':
      root.workDir = text
      return void mkdirSync(join(root.folder, text), { recursive: true })
    case 'VOLUME':
    case 'EXPOSE':
    case 'HEALTHCHECK':
    case 'ENTRYPOINT':
    case 'CMD':
      return
    default:
      throw new Error(`The instruction ${name} is not known.`)
  }
}

/** The command in its root, as its user, in a namespace of mounts that ends with it. */
export function inRoot(
  { folder, user, workDir }: Root,
  command: readonly string[],
  { isReadOnly = false, writable = '' }: { readonly isReadOnly?: boolean; readonly writable?: string } = {},
): readonly string[] {
  const mounts = [
    `mount -t proc proc '${folder}/proc'`,
    `mount --rbind /dev '${folder}/dev'`,
    ...(isReadOnly
      ? [
          `mount --bind '${folder}' '${folder}'`,
          `mount -o remount,bind,ro '${folder}'`,
          `mount -t tmpfs tmpfs '${folder}/tmp'`,
          `mount -t proc proc '${folder}/proc'`,
          `mount --rbind /dev '${folder}/dev'`,
          `mount --bind '${writable}' '${folder}${workDir}'`,
        ]
      : []),
  ]
  const chroot = `exec chroot --userspec=${user}:${user} '${folder}' sh -c 'cd ${workDir} && exec "$@"' sh "$@"`
  return ['unshare', '--mount', 'sh', '-ec', [...mounts, chroot].join('\n'), 'sh', ...command]
}

function copy(text: string, root: Root, { context, stages }: Files): void {
  const words = text.split(/\s+/)
  const from = /^--from=(.*)$/.exec(words[0] ?? '')?.[1]
  const source = from === undefined ? context : (stages.get(from)?.folder ?? '')
  const paths = from === undefined ? words : words.slice(1)
  const target = paths.pop() ?? ''
  for (const path of paths) {
    const isFolder = target.endsWith('/')
    const to = join(root.folder, resolve(root.workDir, target), isFolder ? basename(path) : '')
    mkdirSync(dirname(to), { recursive: true })
    // Links stay as they are, because those of packages are relative.
    cpSync(join(source, path), to, { recursive: true, verbatimSymlinks: true })
  }
}
