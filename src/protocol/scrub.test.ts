import { describe, expect, test } from 'bun:test'
import { scrub } from './scrub.ts'

const SECRETS = {
  baseUrls: [
    'https://api.upstream.example/v1',
    'http://vllm:8000',
    'http://10.1.2.3:9000/v1',
    'http://[fd00::1]:80',
  ],
  keys: ['QWxhZGRpbjpvcGVu'],
}

describe('text that identifies the upstream is removed', () => {
  test.each([
    ['See https://platform.example.com/docs/errors?x=1#y.', 'See [link].'],
    ['(http://127.0.0.1:8000/v1/chat) failed', '([link]) failed'],
    ['wss://a.b/c and HTTPS://X.Y', '[link] and [link]'],
    ['connect to api.upstream.example:443 failed', 'connect to [host] failed'],
    ['API.Upstream.Example is down', '[host] is down'],
    ['mail help.upstream.example', 'mail [host]'],
    ['upstream.example, sorry', '[host], sorry'],
    ['vllm:8000 refused', '[host] refused'],
    ['10.1.2.3:9000 timed out', '[host] timed out'],
    ['getaddrinfo ENOTFOUND node-7.models.svc.cluster.local', 'getaddrinfo ENOTFOUND [host]'],
    ['ask support@provider.com', 'ask support@[host]'],
    ['localhost:11434', '[host]'],
    ['gpu-7.internal.corp is down', '[host] is down'],
    ['no route to gpu-7.internal.corp:8080.', 'no route to [host].'],
    ['queue.fal.run answered 500', '[host] answered 500'],
    ['fal.media, v3.fal.media and pbxt.replicate.delivery', '[host], [host] and [host]'],
    [
      'ask api.acme.video, gpu-7.acme, node12.rack.three or ip-10-0-0-1.ec2',
      'ask [host], [host], [host] or [host]',
    ],
    ['lb.prod.acme:8443 refused', '[host] refused'],
    ['GPU-7.INTERNAL.CORP failed', '[host] failed'],
    ['api.acme.com.Try again', '[host].Try again'],
    ['getaddrinfo ENOTFOUND lb.prod.acme', 'getaddrinfo ENOTFOUND [host]'],
    [
      'dial tcp: lookup gpu-box on 10.0.0.2:53: no such host',
      'dial tcp: lookup [host] on [host]: no such host',
    ],
    ["Could not resolve host: 'render'", "Could not resolve host: '[host]'"],
    ['a.b.c.d.e.f.g.h.i.j.k.l.corp', '[host]'],
    ['vllm.pool.zone answered', '[host] answered'],
    ['192.168.0.1', '[host]'],
    ['[fd00::1]:80 and [::1]', '[host] and [host]'],
    ['key QWxhZGRpbjpvcGVu is wrong', 'key [redacted] is wrong'],
    ['Incorrect API key provided: sk-proj-abc***wxyz.', 'Incorrect API key provided: [redacted].'],
    ['sk-secret, sk_live_1', '[redacted], [redacted]'],
    ['gsk_a1b2c3d4 AIzaSyA0123456789012345678901234567890', '[redacted] [redacted]'],
    ['Authorization: Bearer abc.def.ghi', 'Authorization: Bearer [redacted]'],
    ['in organization org-AbCdEf012345 on tokens', 'in organization [organization] on tokens'],
    ['org-acme, proj_1a2b3c4d5e', '[organization], [organization]'],
  ])('text that identifies the upstream is removed: %s', (text, expected) => {
    expect(scrub(text, SECRETS)).toBe(expected)
  })
})

describe('text that a caller needs stays', () => {
  test.each([
    'messages.0.content.1.image_url: field required',
    'max_tokens is too large: 99999. This model supports at most 16384 completion tokens.',
    'gpt-4.1-mini does not support temperature 0.7, e.g. use 1.0',
    "Invalid type for 'tools[0].function.name': expected a string",
    'task-force, key_points, desk-top, user-agent, organisation',
    'ratio 16:9 at 12:30, version 1.2.3',
    'e.g. gpt-5.1, i.e. not claude-4.5-haiku, etc. (see v2.0.1)',
    'input.png, clip.final.mp4:12, main.py:7, a.tar.gz, node.js, gpu-7.log and web-1.jpeg',
    'thread.run.completed, message.content.text, image.link, response.id, job.name, tools.0.function.name',
    'The value of host.name is missing.It must be set.No, really.',
    'Too long.Please send fewer words.In total 7.50 USD',
    'torch.cuda.OutOfMemoryError at step 3.5 of 10',
    'lookup of the model failed; api.version is 2',
  ])('text that a caller needs stays: %s', text => {
    expect(scrub(text, SECRETS)).toBe(text)
  })
})

test('an empty key removes nothing', () => {
  expect(scrub('a text', { baseUrls: [], keys: ['', 'a'] })).toBe('a text')
})
