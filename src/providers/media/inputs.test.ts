import { expect, test } from 'bun:test'
import { namedImages } from './inputs.ts'

test.each([
  [{ image_field: 'image_url' }, ['a'], { image_url: 'a' }],
  [{ image_field: 'image_url' }, ['a', 'b'], { image_url: ['a', 'b'] }],
  [{ image_field: 'image_urls[]' }, ['a'], { image_urls: ['a'] }],
  [{ image_field: 'image_urls[]' }, [], {}],
  [{ image_field: 'no name' }, ['a'], undefined],
  [{}, ['a'], undefined],
])('with the parameters %j the images %j are %j', (params, images, members) => {
  expect(namedImages(params, images)).toEqual(members as never)
})
