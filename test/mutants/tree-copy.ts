import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NOT_COPIED = new Set(['.git', 'node_modules', 'data'])
/** One test, and one test file. A fault may make a test wait for something that never comes. */
const TEST_MS_MAX = 60_000
const FILE_MS_MAX = 300_000

/** A copy of the source tree in which tests run on changed files. */
export class TreeCopy {
  readonly path = mkdtempSync(join(tmpdir(), 'tollgate-mutants-'))
  #running: number | undefined

  constructor(root: string) {
    for (const name of readdirSync(root))
      if (!NOT_COPIED.has(name)) cpSync(join(root, name), join(this.path, name), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(this.path, 'node_modules'))
  }

  /** Does `work` while a file has other content. */
  async withContent<Result>(file: string, content: string, work: () => Promise<Result>): Promise<Result> {
    const path = join(this.path, file)
    const original = readFileSync(path)
    writeFileSync(path, content)
    try {
      return await work()
    } finally {
      writeFileSync(path, original)
    }
  }

  /** Whether all tests of a file pass. A file that takes too long does not pass. */
  async passes(testFile: string): Promise<boolean> {
    const test = spawn(
      process.execPath,
      ['test', '--bail', '--timeout', String(TEST_MS_MAX), `./${testFile}`],
      {
        cwd: this.path,
        // A group of its own, so that processes that the tests started end with it.
        detached: true,
        stdio: 'ignore',
      },
    )
    this.#running = test.pid
    const timer = setTimeout(() => this.#stop(), FILE_MS_MAX)
    const code = await new Promise(resolve => test.once('close', resolve))
    clearTimeout(timer)
    this.#stop()
    return code === 0
  }

  /** Ends what runs, and removes the copy. */
  remove(): void {
    this.#stop()
    rmSync(this.path, { recursive: true, force: true })
  }

  #stop(): void {
    if (this.#running === undefined) return
    try {
      process.kill(-this.#running, 'SIGKILL')
    } catch {
      // The whole group has ended.
    }
  }
}
