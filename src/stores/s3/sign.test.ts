import { expect, test } from 'bun:test'
import { pathOf, queryOf, sha256Of, signedHeaders } from './sign.ts'

// The keys, requests and signatures are the examples of "Signature Calculations for the Authorization Header" in the
// documentation of Amazon S3.
const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}
const AT_MS = Date.UTC(2013, 4, 24)

test.each([
  [
    'GET',
    '/test.txt',
    '',
    { range: 'bytes=0-9' },
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  [
    'GET',
    '/',
    queryOf({ lifecycle: '' }),
    {},
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ],
  [
    'GET',
    '/',
    queryOf({ prefix: 'J', 'max-keys': '2' }),
    {},
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
])(
  'the signature of %s %s?%s is the one that Amazon documents',
  (method, path, query, headers, signature) => {
    const url = new URL(`https://examplebucket.s3.amazonaws.com${path}${query === '' ? '' : `?${query}`}`)

    const sent = signedHeaders({ method, url, headers, bodySha256: sha256Of('') }, credentials, AT_MS)

    expect(sent['authorization']).toEndWith(`Signature=${signature}`)
    expect(sent['x-amz-date']).toBe('20130524T000000Z')
  },
)

test('a query is sorted by its encoded names, and a path keeps its slashes', () => {
  expect(queryOf({ 'a-b': '1', a: "x y/+*'", uploads: '' })).toBe('a=x%20y%2F%2B%2A%27&a-b=1&uploads=')
  expect(pathOf('/live/a b(1).out-0')).toBe('/live/a%20b%281%29.out-0')
})
