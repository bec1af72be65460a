import type { Mutant } from '../mutant.ts'

const BLOBS = 'src/stores/s3/blobs.ts'
const BUCKET = 'src/stores/s3/bucket.ts'
const STREAM = 'src/stores/s3/object-stream.ts'
const UPLOAD = 'src/stores/s3/upload.ts'
const TESTS = 'src/stores/s3/blobs.test.ts'
const CHECK_TESTS = 'src/stores/s3/check-bucket.test.ts'
const SCENARIOS = 'test/scenarios/media/results-on-s3.test.ts'

/** Faults in the results that are in a bucket. */
export const resultMutants: readonly Mutant[] = [
  {
    name: 'a bucket that does not exist makes its results missing',
    file: BUCKET,
    text: 'expected.some(one => one.status === status && one.code === code)',
    replacement: 'expected.some(one => one.status === status)',
    tests: [TESTS],
  },
  {
    name: 'an error after the status 200 counts as a success',
    file: BUCKET,
    text: "const isSuccess = status >= 200 && status < 300 && !text.includes('<Error')",
    replacement: 'const isSuccess = status >= 200 && status < 300',
    tests: [TESTS],
  },
  {
    name: 'the storage does not check the bytes that it gets',
    file: BUCKET,
    text: "bodySha256: sha256Of(body ?? '')",
    replacement: "bodySha256: 'UNSIGNED-PAYLOAD'",
    tests: [TESTS],
  },
  {
    name: 'a storage that hangs is waited for',
    file: BUCKET,
    text: 'const stop = this.clock.after(timeoutMs, () => {',
    replacement: 'const stop = this.clock.after(timeoutMs * 1000, () => {',
    tests: [TESTS],
  },
  {
    name: 'a public bucket is accepted',
    file: 'src/stores/s3/check-bucket.ts',
    text: 'await bucket.call({ ...request, isAnonymous: true })\n    return true',
    replacement: 'await bucket.call({ ...request, isAnonymous: true })\n    return false',
    tests: [CHECK_TESTS, SCENARIOS],
  },
  {
    name: 'a read goes on with another version of its object',
    file: STREAM,
    text: 'range: { start: this.#at, end }, etag })',
    replacement: 'range: { start: this.#at, end }, etag: undefined })',
    tests: [TESTS],
  },
  {
    name: 'an object that another process wrote is served without a look at its hash',
    file: BLOBS,
    text: 'if (bytes === known.bytes && sha256 === known.sha256) return { bytes, stream }',
    replacement: 'if (bytes === known.bytes) return { bytes, stream }',
    tests: [TESTS],
  },
  {
    name: 'an archived result is removed although its copy failed',
    file: BLOBS,
    text: "    const { status } = await this.#bucket.call(\n      {\n        method: 'PUT',",
    replacement:
      "    await this.remove(key)\n    const { status } = await this.#bucket.call(\n      {\n        method: 'PUT',",
    tests: [TESTS],
  },
  {
    name: 'a failed upload leaves its parts',
    file: UPLOAD,
    text: '    await upload.abort()\n',
    replacement: '',
    tests: [TESTS],
  },
  {
    name: 'a gateway on restored books removes the results of newer books',
    file: 'src/reconciler/sweep-blobs.ts',
    text: "return RESULT.test(key) ? 'live' : 'none'",
    replacement: "return 'none'",
    tests: ['src/reconciler/sweep-blobs.test.ts', SCENARIOS],
  },
  {
    name: 'a client sends a request for paid images again when they cannot be read',
    file: 'src/http/media/job-replies.ts',
    text: 'shouldRetry: false, extensions, cause',
    replacement: 'extensions, cause',
    tests: [SCENARIOS],
  },
  {
    name: 'results that are out of reach are reported as damaged',
    file: 'src/stores/books/verify/check-results.ts',
    text: 'const damage = await blobs.damageOf(file)',
    replacement: "const damage = await blobs.damageOf(file).catch(() => 'unreadable' as const)",
    tests: ['src/stores/sqlite/verify/check-results.test.ts', SCENARIOS],
  },
]
