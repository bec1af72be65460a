import { describe, expect, test } from 'bun:test'
import { providerKinds } from '../domain/catalog/provider.ts'
import { usd } from '../domain/money.ts'
import { FILE_LENGTH_MAX, formatFileProblem, parseCatalogFile } from './catalog-file.ts'

/** The first seven lines of the files below. The text of a case begins on line 8. */
const HEAD = `# A comment
providers:
  - id: main
    kind: openai-compatible
    base_url: https://api.example.com/v1
  - id: box
    kind: sandbox
`

const provider = (lines: string) => `providers:\n  - id: main\n${indent(lines)}models: []\n`
const compatible = (lines: string) =>
  provider(`kind: openai-compatible\nbase_url: https://api.example.com/v1\n${lines}`)
const chat = (lines: string) =>
  `${HEAD}models:\n  - id: gpt-x\n    kind: chat\n    upstreams: [{provider: main, model: gpt-x}]\n${indent(lines)}`
const priced = (lines: string) => chat(`pricing: free\nmax_output_tokens: 100\n${lines}`)
const tariff = (lines: string) =>
  chat(`max_output_tokens: 100\npricing:\n  output_per_mtok: "10"\n  ${lines.replaceAll('\n', '\n  ')}`)
const row = (kind: string, lines: string) =>
  `${HEAD}models:\n  - id: x\n    kind: ${kind}\n    upstreams: [{provider: box, model: x}]\n${indent(lines)}`

function indent(lines: string): string {
  return lines
    .split('\n')
    .map(line => `    ${line}\n`)
    .join('')
}

/** The mistake, the text, and the reported problems. */
const refusals: readonly (readonly [string, string, ...string[]])[] = [
  [
    'an empty file',
    '',
    'line 1, column 1: The file is empty; write "providers:" and "models:", each with a list.',
  ],
  [
    'a file that is a list',
    '- a',
    'line 1, column 1: The file is a list; write "providers:" and "models:", each with a list.',
  ],
  [
    'a file without models',
    'providers: []\n',
    'line 1, column 1: models is missing; write a list, or models: [] for none.',
  ],
  [
    'a list of rows that is not a list',
    'providers: []\nmodels: free\n',
    'line 2, column 1: models is "free"; write a list, or models: [] for none.',
  ],
  [
    'an unknown top-level field',
    'providers: []\nmodels: []\nmodel: 1\n',
    'line 3, column 1: model is not a field of a catalog; did you mean models?',
  ],
  [
    'wrong indentation',
    'providers:\n  - id: a\n   kind: x\n',
    'line 3, column 1: The file cannot be read: sequence item without - indicator; write YAML 1.2 or JSON.',
  ],
  [
    'incomplete JSON',
    '{"providers": [',
    'line 1, column 16: The file cannot be read: flow sequence in block collection must be sufficiently indented and end with a ]; write YAML 1.2 or JSON.',
    'line 1, column 16: The file cannot be read: flow map must end with a }; write YAML 1.2 or JSON.',
  ],
  [
    'a repeated field',
    priced('kind: chat'),
    'line 14, column 5: models[0].kind is listed twice; list it once.',
  ],
  [
    'a tag',
    compatible('api_key: !!binary aGVsbG8='),
    'line 5, column 14: The file cannot be read: unresolved tag: tag:yaml.org,2002:binary; write YAML 1.2 or JSON.',
  ],
  [
    'an alias without an anchor',
    priced('context_window: *many'),
    'line 14, column 21: models[0].context_window is *many, an alias without an anchor; write &many at a value before this one that does not contain it.',
  ],
  [
    'an anchor inside itself',
    'providers: &all [*all]\nmodels: []\n',
    'line 1, column 18: providers[0] is *all, an alias without an anchor; write &all at a value before this one that does not contain it.',
  ],
  [
    'a provider that is not a mapping',
    'providers: [main]\nmodels: []\n',
    'line 1, column 13: providers[0] is "main"; write a provider: its id, kind and, unless it is the sandbox, base_url.',
  ],
  [
    'a provider without a kind',
    provider('base_url: https://x.example'),
    `line 2, column 5: providers[0].kind is missing; write one of ${providerKinds.join(', ')}.`,
  ],
  [
    'a provider of an unknown kind',
    provider('kind: later'),
    `line 3, column 5: providers[0].kind is "later"; write one of ${providerKinds.join(', ')}.`,
  ],
  [
    'a misspelled kind',
    provider('kind: openai_compatible\nbase_url: https://x.example'),
    `line 3, column 5: providers[0].kind is "openai_compatible"; write one of ${providerKinds.join(', ')} (did you mean "openai-compatible"?).`,
  ],
  [
    'a provider without an id',
    'providers:\n  - kind: sandbox\nmodels: []\n',
    'line 2, column 5: providers[0].id is missing; write a name of at most 64 letters, digits, "-", "_" and ".".',
  ],
  [
    'a provider id with a space',
    'providers: [{id: a b, kind: sandbox}]\nmodels: []\n',
    'line 1, column 14: providers[0].id is "a b"; write a name of at most 64 letters, digits, "-", "_" and ".".',
  ],
  [
    'an unknown field of a provider',
    compatible('url: https://x.example'),
    'line 5, column 5: providers[0].url is not a field of a provider of kind openai-compatible; did you mean base_url?',
  ],
  [
    'a field that the sandbox does not have',
    provider('kind: sandbox\nbase_url: https://x.example'),
    'line 4, column 5: providers[0].base_url is not a field of a provider of kind sandbox; the fields are id, kind, routes.',
  ],
  [
    'no base_url',
    provider('kind: openai-compatible'),
    'line 2, column 5: providers[0].base_url is missing; write an http or https URL such as https://api.example.com/v1.',
  ],
  [
    'a base_url that is not a URL',
    provider('kind: openai-compatible\nbase_url: api.example.com'),
    'line 4, column 5: providers[0].base_url is not a URL; write an http or https URL such as https://api.example.com/v1.',
  ],
  [
    'a base_url of another scheme',
    provider('kind: openai-compatible\nbase_url: ftp://api.example.com'),
    'line 4, column 5: providers[0].base_url is "ftp://api.example.com"; write an http or https URL such as https://api.example.com/v1.',
  ],
  [
    'a base_url with credentials, which the problem does not repeat',
    provider('kind: openai-compatible\nbase_url: https://me:hunter2@api.example.com'),
    'line 4, column 5: providers[0].base_url contains credentials; put the key in api_key.',
  ],
  [
    'a base_url with a key in its query, which the problem does not repeat',
    provider('kind: openai-compatible\nbase_url: https://api.example.com/v1?api-key=hunter2'),
    'line 4, column 5: providers[0].base_url has a key in its query; put the key in api_key.',
  ],
  [
    'a base_url with a fragment',
    provider('kind: openai-compatible\nbase_url: "https://api.example.com/v1#a"'),
    'line 4, column 5: providers[0].base_url has a fragment; end the URL with its path, such as /v1.',
  ],
  [
    'a base_url with a query at a provider of images',
    provider('kind: openai-images\nbase_url: https://api.example.com/v1?api-version=1'),
    'line 4, column 5: providers[0].base_url has a query or a fragment; end the URL with its path, such as /v1.',
  ],
  [
    'a base_url with a query that ends in a route',
    provider('kind: openai-compatible\nbase_url: https://api.example.com/v1/responses?api-version=1'),
    'line 4, column 5: providers[0].base_url ends in the route "/responses", which the gateway appends; write "https://api.example.com/v1?api-version=1".',
  ],
  [
    'an api_key_header that the gateway sets',
    compatible('api_key_header: Content-Type'),
    'line 5, column 5: providers[0].api_key_header is content-type, which is set by the gateway; write the header in which the provider expects its key, such as api-key.',
  ],
  [
    'an api_key_header of one connection',
    compatible('api_key_header: proxy-authorization'),
    'line 5, column 5: providers[0].api_key_header is proxy-authorization, which is set by the gateway; write the header in which the provider expects its key, such as api-key.',
  ],
  [
    'a base_url with the key subscription_key in its query',
    provider('kind: openai-compatible\nbase_url: https://api.example.com/v1?subscription_key=hunter2'),
    'line 4, column 5: providers[0].base_url has a key in its query; put the key in api_key.',
  ],
  [
    'a base_url with the key client_secret in its query',
    provider('kind: openai-compatible\nbase_url: https://api.example.com/v1?client_secret=hunter2'),
    'line 4, column 5: providers[0].base_url has a key in its query; put the key in api_key.',
  ],
  [
    'a base_url with the key code in its query',
    provider('kind: openai-compatible\nbase_url: https://api.example.com/v1?code=hunter2'),
    'line 4, column 5: providers[0].base_url has a key in its query; put the key in api_key.',
  ],
  [
    'an api_key_header accept, which has a meaning of its own',
    compatible('api_key_header: accept'),
    'line 5, column 5: providers[0].api_key_header is accept, which cannot have a key; write the header in which the provider expects its key, such as api-key.',
  ],
  [
    'an api_key_header user-agent, which has a meaning of its own',
    compatible('api_key_header: user-agent'),
    'line 5, column 5: providers[0].api_key_header is user-agent, which cannot have a key; write the header in which the provider expects its key, such as api-key.',
  ],
  [
    'an api_key_header anthropic-version, which has a meaning of its own',
    compatible('api_key_header: anthropic-version'),
    'line 5, column 5: providers[0].api_key_header is anthropic-version, which cannot have a key; write the header in which the provider expects its key, such as api-key.',
  ],
  [
    'an api_key_header set-cookie, which has a meaning of its own',
    compatible('api_key_header: set-cookie'),
    'line 5, column 5: providers[0].api_key_header is set-cookie, which cannot have a key; write the header in which the provider expects its key, such as api-key.',
  ],
  [
    'a key in the header api-key, which the problem does not repeat',
    compatible('headers: {api-key: hunter2}'),
    'line 5, column 15: providers[0].headers.api-key is a key, which exports would show; write env: and a name of letters, digits and "_", such as env:MAIN_TEAM.',
  ],
  [
    'a key in the header X-Api-Key, which the problem does not repeat',
    compatible('headers: {X-Api-Key: hunter2}'),
    'line 5, column 15: providers[0].headers.X-Api-Key is a key, which exports would show; write env: and a name of letters, digits and "_", such as env:MAIN_TEAM.',
  ],
  [
    'a key in the header x-goog-api-key, which the problem does not repeat',
    compatible('headers: {x-goog-api-key: hunter2}'),
    'line 5, column 15: providers[0].headers.x-goog-api-key is a key, which exports would show; write env: and a name of letters, digits and "_", such as env:MAIN_TEAM.',
  ],
  [
    'a key in the header cookie, which the problem does not repeat',
    compatible('headers: {cookie: hunter2}'),
    'line 5, column 15: providers[0].headers.cookie is a key, which exports would show; write env: and a name of letters, digits and "_", such as env:MAIN_TEAM.',
  ],
  [
    'a header with the name of the api_key_header',
    compatible('api_key_header: api-key\nheaders: {Api-Key: x}'),
    'line 6, column 15: providers[0].headers.Api-Key is set by the gateway; put the key in api_key.',
  ],
  [
    'a header of one connection',
    compatible('headers: {Keep-Alive: timeout=5}'),
    'line 5, column 15: providers[0].headers.Keep-Alive is set by the gateway; leave it out.',
  ],
  [
    'a header from an invalid variable, which the problem does not repeat',
    compatible('headers: {x-team: "env:my-team"}'),
    'line 5, column 15: providers[0].headers.x-team does not name an environment variable; write env: and a name of letters, digits and "_", such as env:MAIN_TEAM.',
  ],
  [
    'a header that is a shell variable',
    compatible('headers: {x-team: "${TEAM}"}'),
    'line 5, column 15: providers[0].headers.x-team is written as a shell variable, and those are not expanded; write env: and a name of letters, digits and "_", such as env:MAIN_TEAM.',
  ],
  [
    'a key that cannot be sent in a header, which the problem does not repeat',
    compatible('api_key: "sk hunter2"'),
    'line 5, column 5: providers[0].api_key cannot be sent in a header; write env:NAME for an environment variable, or the key itself without spaces, in quotes.',
  ],
  [
    'an invalid name of an environment variable',
    compatible('api_key: env:MY-KEY'),
    'line 5, column 5: providers[0].api_key does not name an environment variable; write env: and a name of letters, digits and "_", such as env:MAIN_API_KEY.',
  ],
  [
    'a header for the key',
    compatible('headers: {Authorization: Bearer x}'),
    'line 5, column 15: providers[0].headers.Authorization is set by the gateway; put the key in api_key.',
  ],
  [
    'a header that the gateway sets',
    compatible('headers:\n  Content-Length: "1"'),
    'line 6, column 7: providers[0].headers.Content-Length is set by the gateway; leave it out.',
  ],
  [
    'a header value that is a number',
    compatible('headers: {x-tier: 1}'),
    'line 5, column 15: providers[0].headers.x-tier is 1; write plain ASCII text of at most 4096 characters, in quotes.',
  ],
  [
    'the same header in two spellings',
    compatible('headers: {x-a: "1", X-A: "2"}'),
    'line 5, column 25: providers[0].headers.X-A is listed twice; list it once.',
  ],
  [
    'an invalid header name',
    compatible('headers: {"x a": "1"}'),
    'line 5, column 15: providers[0].headers.x a is "x a"; write the name of an HTTP header.',
  ],
  [
    'a connect limit that is a text',
    compatible('connect_timeout_s: "5"'),
    'line 5, column 5: providers[0].connect_timeout_s is "5"; write a number from 0.1 to 60.',
  ],
  [
    'a connect limit of zero',
    compatible('connect_timeout_s: 0'),
    'line 5, column 5: providers[0].connect_timeout_s is 0; write a number from 0.1 to 60.',
  ],
  [
    'a connect limit in milliseconds',
    compatible('connect_timeout_s: 5000'),
    'line 5, column 5: providers[0].connect_timeout_s is 5000; write a number from 0.1 to 60.',
  ],
  [
    'a reuse of connections that is neither true nor false',
    compatible('reuse_connections: never'),
    'line 5, column 5: providers[0].reuse_connections is "never"; write true or false.',
  ],
  [
    'another word for sending links',
    provider('kind: fal\nsend_links: sometimes'),
    'line 4, column 5: providers[0].send_links is "sometimes"; write one of always, never.',
  ],
  [
    'the sending of links of a text provider',
    compatible('send_links: never'),
    'line 5, column 5: providers[0].send_links is not a field of a provider of kind openai-compatible; the fields are id, kind, base_url, api_key, api_key_header, headers, routes, max_tokens_field, omit_fields, refuse_fields, cost_header, cost_field, cost_unit, usage_style, bills_refused, connect_timeout_s, read_timeout_s, stream_idle_timeout_s, first_byte_timeout_s, retries, stream_usage, finish_aborted, pass_rate_limits, reuse_connections.',
  ],
  [
    'a connect limit of the sandbox',
    provider('kind: sandbox\nconnect_timeout_s: 5'),
    'line 4, column 5: providers[0].connect_timeout_s is not a field of a provider of kind sandbox; the fields are id, kind, routes.',
  ],
  [
    'an unknown route',
    compatible('routes: [chat, embedding]'),
    'line 5, column 20: providers[0].routes[1] is "embedding"; write one of chat, responses, embeddings (did you mean "embeddings"?).',
  ],
  [
    'no routes',
    compatible('routes: []'),
    'line 5, column 5: providers[0].routes is empty; write a list of chat, responses, embeddings, or leave it out for all.',
  ],
  [
    'an unknown max_tokens_field',
    compatible('max_tokens_field: max'),
    'line 5, column 5: providers[0].max_tokens_field is "max"; write one of max_tokens, max_completion_tokens (did you mean "max_tokens"?).',
  ],
  [
    'two providers with the same id',
    `providers:\n  - {id: a, kind: sandbox}\n  - {id: a, kind: sandbox}\nmodels: []\n`,
    'line 3, column 6: providers[1].id is "a", which is already the id of providers[0]; give each row its own id.',
  ],
  [
    'two models with the same id',
    `${priced('enabled: false')}  - id: gpt-x\n    kind: image\n    upstreams: [{provider: box, model: x}]\n    pricing: {per_image: "1"}\n`,
    'line 15, column 5: models[1].id is "gpt-x", which is already the id of models[0]; give each row its own id.',
  ],
  [
    'a model without a kind',
    `${HEAD}models:\n  - id: x\n`,
    'line 9, column 5: models[0].kind is missing; write one of chat, embedding, image, video.',
  ],
  [
    'a model id with a space',
    `${HEAD}models:\n  - {id: a b, kind: chat, enabled: false, upstreams: [{provider: box, model: x}]}\n`,
    'line 9, column 6: models[0].id is "a b"; write a name of letters, digits and any of . _ : @ + - with single slashes inside.',
  ],
  [
    'a model id that is too long',
    `${HEAD}models:\n  - {id: ${'a'.repeat(129)}, kind: chat, enabled: false, upstreams: [{provider: box, model: x}]}\n`,
    'line 9, column 6: models[0].id has 129 characters; write at most 128.',
  ],
  [
    'an unknown field of a model',
    priced('max_tokens: 5'),
    'line 14, column 5: models[0].max_tokens is not a field of a model of kind chat; did you mean max_output_tokens?',
  ],
  [
    'a field of another kind',
    row('embedding', 'pricing: free\nmax_output_tokens: 5'),
    'line 13, column 5: models[0].max_output_tokens is not a field of a model of kind embedding; the fields are id, kind, enabled, display_name, description, owned_by, upstreams, pricing, markup, ceiling_pricing, context_window, read_timeout_s, replays, refuse_fields.',
  ],
  [
    'an enabled model without a price',
    chat('max_output_tokens: 100'),
    'line 9, column 5: models[0].pricing is missing; write {input_per_mtok: "2.5", output_per_mtok: "10"}, "free", or "upstream_cost" with a ceiling_pricing, or enabled: false until you know it.',
  ],
  [
    'an enabled image model without a price',
    row('image', 'enabled: true'),
    'line 9, column 5: models[0].pricing is missing; write {per_image: "0.04"}, or prices for tokens and max_per_image, or enabled: false until you know it.',
  ],
  [
    'an enabled chat model without max_output_tokens',
    chat('pricing: free'),
    'line 9, column 5: models[0].max_output_tokens is missing; write the maximum number of output tokens of one answer, or enabled: false until you know it.',
  ],
  [
    'an enabled that is not a boolean',
    priced('enabled: yes'),
    'line 14, column 5: models[0].enabled is "yes"; write true or false.',
  ],
  [
    'a max_output_tokens of zero',
    chat('pricing: free\nmax_output_tokens: 0'),
    'line 13, column 5: models[0].max_output_tokens is 0; write a whole number from 1 to 100000000.',
  ],
  [
    'a max_output_tokens in quotes',
    chat('pricing: free\nmax_output_tokens: "100"'),
    'line 13, column 5: models[0].max_output_tokens is "100"; write a whole number from 1 to 100000000.',
  ],
  [
    'a fractional context_window',
    priced('context_window: 1.5'),
    'line 14, column 5: models[0].context_window is 1.5; write a whole number from 1 to 100000000.',
  ],
  [
    'a name that is a number',
    priced('display_name: 4'),
    'line 14, column 5: models[0].display_name is 4; write one line of at most 200 characters, in quotes if it is a number.',
  ],
  [
    'a price that is a number',
    tariff('input_per_mtok: 2.5'),
    'line 15, column 7: models[0].pricing.input_per_mtok is a number; write it in quotes: "2.5".',
  ],
  [
    'a price that is a number with an exponent',
    tariff('input_per_mtok: 0.0000001'),
    'line 15, column 7: models[0].pricing.input_per_mtok is a number; write it in quotes.',
  ],
  [
    'a price with ten decimals',
    tariff('input_per_mtok: "0.0000000001"'),
    'line 15, column 7: models[0].pricing.input_per_mtok is "0.0000000001"; write dollars in quotes, such as "2.5", with at most nine decimals.',
  ],
  [
    'a price with an exponent',
    tariff('input_per_mtok: "1e3"'),
    'line 15, column 7: models[0].pricing.input_per_mtok is "1e3"; write dollars in quotes, such as "2.5", with at most nine decimals.',
  ],
  [
    'a negative price',
    tariff('input_per_mtok: "-1"'),
    'line 15, column 7: models[0].pricing.input_per_mtok is "-1"; write a price from "0" to "1000000".',
  ],
  [
    'a price above the maximum',
    tariff('input_per_mtok: "1000000.000000001"'),
    'line 15, column 7: models[0].pricing.input_per_mtok is "1000000.000000001"; write a price from "0" to "1000000".',
  ],
  [
    'an unknown price',
    tariff('input_per_mtok: "1"\ninput_cached: "1"'),
    'line 16, column 7: models[0].pricing.input_cached is not a field of a tariff; the fields are input_per_mtok, cached_input_per_mtok, cache_write_per_mtok, cache_write_1h_per_mtok, audio_input_per_mtok, output_per_mtok, reasoning_per_mtok, audio_output_per_mtok, per_request, per_server_tool_use, per_search_call, per_file_search, tiers, service_tiers.',
  ],
  [
    'a missing price in a tariff',
    tariff('cached_input_per_mtok: "1"'),
    'line 13, column 5: models[0].pricing.input_per_mtok is missing; write dollars in quotes, such as "2.5", with at most nine decimals.',
  ],
  [
    'an unknown pricing word',
    chat('max_output_tokens: 1\npricing: gratis'),
    'line 13, column 5: models[0].pricing is "gratis"; write {input_per_mtok: "2.5", output_per_mtok: "10"}, "free", or "upstream_cost" with a ceiling_pricing.',
  ],
  [
    'upstream_cost without a ceiling_pricing',
    chat('max_output_tokens: 1\npricing: upstream_cost'),
    'line 9, column 5: models[0].ceiling_pricing is missing; write the highest prices the upstream may have, such as {input_per_mtok: "2.5", output_per_mtok: "10"}.',
  ],
  [
    'a markup that is a number',
    row('embedding', 'pricing: upstream_cost\nceiling_pricing: {input_per_mtok: "1"}\nmarkup: 1.2'),
    'line 14, column 5: models[0].markup is 1.2; write a factor in quotes, such as "1.2", above 0 and at most 1000.',
  ],
  [
    'a markup of zero',
    row('embedding', 'pricing: upstream_cost\nceiling_pricing: {input_per_mtok: "1"}\nmarkup: "0"'),
    'line 14, column 5: models[0].markup is "0"; write a factor in quotes, such as "1.2", above 0 and at most 1000.',
  ],
  [
    'a markup without upstream_cost',
    priced('markup: "1.2"'),
    'line 14, column 5: models[0].markup is only used with pricing: upstream_cost; leave it out.',
  ],
  [
    'no upstreams',
    `${HEAD}models:\n  - id: x\n    kind: embedding\n    pricing: free\n`,
    'line 9, column 5: models[0].upstreams is missing; write at least one, such as [{provider: main, model: gpt-x}].',
  ],
  [
    'an empty list of upstreams',
    `${HEAD}models:\n  - {id: x, kind: embedding, pricing: free, upstreams: []}\n`,
    'line 9, column 45: models[0].upstreams is empty; write at least one, such as [{provider: main, model: gpt-x}].',
  ],
  [
    'an unknown provider',
    `${HEAD}models:\n  - {id: x, kind: embedding, pricing: free, upstreams: [{provider: mian, model: x}]}\n`,
    'line 9, column 58: models[0].upstreams[0].provider is "mian", which is not a provider of this catalog; did you mean "main"?',
  ],
  [
    'an unknown field of an upstream',
    `${HEAD}models:\n  - {id: x, kind: embedding, pricing: free, upstreams: [{provider: main, model: x, weigth: 1}]}\n`,
    'line 9, column 84: models[0].upstreams[0].weigth is not a field of an upstream; did you mean weight?',
  ],
  [
    'a repeated upstream',
    `${HEAD}models:\n  - {id: x, kind: embedding, pricing: free, upstreams: [{provider: main, model: x}, {model: x, provider: main}]}\n`,
    'line 9, column 85: models[0].upstreams[1] is listed twice; list it once.',
  ],
  [
    'an upstream with weight zero',
    `${HEAD}models:\n  - {id: x, kind: embedding, pricing: free, upstreams: [{provider: main, model: x, weight: 0}]}\n`,
    'line 9, column 84: models[0].upstreams[0].weight is 0; write a whole number from 1 to 1000.',
  ],
  [
    'an image model with a text tariff',
    row('image', 'pricing: {input_per_mtok: "1"}'),
    'line 12, column 5: models[0].pricing.per_image is missing; write dollars in quotes, such as "2.5", with at most nine decimals.',
    'line 12, column 15: models[0].pricing.input_per_mtok is not a field of this pricing; did you mean text_input_per_mtok?',
  ],
  [
    'prices for tokens without a highest price',
    row(
      'image',
      'pricing: {text_input_per_mtok: "5", image_input_per_mtok: "10", image_output_per_mtok: "40"}',
    ),
    'line 12, column 5: models[0].pricing.max_per_image is missing; write dollars in quotes, such as "2.5", with at most nine decimals.',
  ],
  [
    'prices for tokens beside a price for each image',
    row(
      'image',
      'pricing: {per_image: "1", text_input_per_mtok: "5", image_input_per_mtok: "10", image_output_per_mtok: "40", max_per_image: "1"}',
    ),
    'line 12, column 15: models[0].pricing.per_image cannot be combined with prices for tokens; write max_per_image instead.',
  ],
  [
    'a format of results that no image has',
    row('image', 'pricing: {per_image: "1"}\noutput_types: [video/mp4]'),
    'line 13, column 20: models[0].output_types[0] is "video/mp4"; write one of image/svg+xml, image/heic, image/tiff.',
  ],
  [
    'a media price that is a word',
    row('image', 'pricing: free'),
    'line 12, column 5: models[0].pricing is "free"; write {per_image: "0.04"}, or prices for tokens and max_per_image.',
  ],
  [
    'a param value that is a number',
    row('image', 'pricing: {per_image: "1"}\nparams: {size: [1, 2K]}'),
    'line 13, column 21: models[0].params.size[0] is 1; write text of at most 64 characters, in quotes if it is a number.',
  ],
  [
    'a param without values',
    row('image', 'pricing: {per_image: "1"}\nparams: {size: []}'),
    'line 13, column 14: models[0].params.size is empty; write its allowed values, the default first, such as [1K, 2K].',
  ],
  [
    'an invalid param name',
    row('image', 'pricing: {per_image: "1"}\nparams: {Size: [a]}'),
    'line 13, column 14: models[0].params.Size is not a valid name; write a name of lower-case letters, digits and "_".',
  ],
  [
    'a video model without an engine',
    row('video', 'pricing: {per_second: "1"}'),
    'line 9, column 5: models[0].engine is missing; write one of family-a, family-a-extend, family-b, family-b-edit, family-b-motion, family-c, family-d-5, family-d-10, family-e, family-e-extend, family-f, family-g, family-g-extend, storyboard.',
  ],
  [
    'an unknown engine',
    row('video', 'pricing: {per_second: "1"}\nengine: family-h'),
    expect.stringMatching(
      /^line 13, column 5: models\[0\]\.engine is "family-h"; write one of family-a, .*did you mean "family-a"\?\)\.$/,
    ) as never,
  ],
  [
    'a fixed duration that the engine does not have',
    row('video', 'pricing: {per_second: "1"}\nengine: family-e\nfixed_params: {duration: 5}'),
    'line 14, column 20: models[0].fixed_params.duration is 5; write 4, 6 or 8, the seconds that the engine allows.',
  ],
  [
    'a fixed duration outside the range',
    row('video', 'pricing: {per_second: "1"}\nengine: family-a\nfixed_params: {duration: 16}'),
    'line 14, column 20: models[0].fixed_params.duration is 16; write 4 to 15, the seconds that the engine allows.',
  ],
  [
    'an engine that needs a fixed duration, without fixed_params',
    row('video', 'pricing: {per_second: "1"}\nengine: family-f'),
    'line 9, column 5: models[0].fixed_params is missing; pin one of its durations: {duration: 4}.',
  ],
  [
    'an engine that needs a fixed duration, with empty fixed_params',
    row('video', 'pricing: {per_second: "1"}\nengine: family-f\nfixed_params: {}'),
    'line 14, column 5: models[0].fixed_params.duration is missing; pin one of its durations: {duration: 4}.',
  ],

  [
    'a fixed parameter that requests may choose too',
    row('image', 'pricing: {per_image: "1"}\nparams: {resolution: [1K]}\nfixed_params: {resolution: 1K}'),
    'line 14, column 20: models[0].fixed_params.resolution is in "params" too; write it in one of the two.',
  ],
  [
    'a fixed parameter that is a list',
    row('image', 'pricing: {per_image: "1"}\nfixed_params: {quality: [high]}'),
    'line 13, column 20: models[0].fixed_params.quality is a list; write text of at most 64 characters, in quotes if it is a number.',
  ],
  [
    'a hold shorter than the fixed duration',
    row(
      'video',
      'pricing: {per_second: "1"}\nengine: family-e\nfixed_params: {duration: 8}\nhold_duration_seconds: 6',
    ),
    'line 15, column 5: models[0].hold_duration_seconds is 6; write at least 8, the duration of a request without one.',
  ],
  [
    'service tiers in a list',
    tariff('input_per_mtok: "2.5"\nservice_tiers: [priority]'),
    'line 16, column 7: models[0].pricing.service_tiers is a list; write the factor of each service tier, such as {flex: "0.5", priority: "2"}.',
  ],
  [
    'no service tier',
    tariff('input_per_mtok: "2.5"\nservice_tiers: {}'),
    'line 16, column 7: models[0].pricing.service_tiers has 0 tiers; write 1 to 16.',
  ],
  [
    'a factor of a service tier that is a number',
    tariff('input_per_mtok: "2.5"\nservice_tiers: {priority: 2}'),
    'line 16, column 23: models[0].pricing.service_tiers.priority is 2; write a factor in quotes, such as "1.2", above 0 and at most 1000.',
  ],
  [
    'a factor of a service tier of zero',
    tariff('input_per_mtok: "2.5"\nservice_tiers: {flex: "0"}'),
    'line 16, column 23: models[0].pricing.service_tiers.flex is "0"; write a factor in quotes, such as "1.2", above 0 and at most 1000.',
  ],
  [
    'a service tier without a factor',
    tariff('input_per_mtok: "2.5"\nservice_tiers: {flex: }'),
    'line 16, column 23: models[0].pricing.service_tiers.flex is missing; write a factor in quotes, such as "2".',
  ],
  [
    'a service tier whose name no answer can have',
    tariff('input_per_mtok: "2.5"\nservice_tiers: {"a b": "2"}'),
    'line 16, column 23: models[0].pricing.service_tiers.a b is not the name of a service tier; write the name that answers have in service_tier, such as priority.',
  ],
  [
    'a price of a search that is a number',
    tariff('input_per_mtok: "2.5"\nper_search_call: 0.01'),
    'line 16, column 7: models[0].pricing.per_search_call is a number; write it in quotes: "0.01".',
  ],
  [
    'a refused field whose path has a space',
    priced('refuse_fields: {"tools[ ].type": [function]}'),
    'line 14, column 21: models[0].refuse_fields.tools[ ].type is not the path of a field; write the names of members with dots between them, and [] behind a list, such as tools[].type.',
  ],
  [
    'a refused field whose allowed value is not in a list',
    priced('refuse_fields: {service_tier: default}'),
    'line 14, column 21: models[0].refuse_fields.service_tier is "default"; write a list of at most 64 allowed values, or [] to allow none.',
  ],
  [
    'a refused field with a mapping as an allowed value',
    priced('refuse_fields: {service_tier: [{a: 1}]}'),
    'line 14, column 36: models[0].refuse_fields.service_tier[0] is a mapping; write a text of at most 200 characters, a number, true or false.',
  ],
  [
    'a list of refused fields',
    priced('refuse_fields: [service_tier]'),
    'line 14, column 5: models[0].refuse_fields is a list; write the allowed values of each field, such as service_tier: [default].',
  ],
  [
    'too many refused fields',
    priced(`refuse_fields: {${Array.from({ length: 65 }, (_, index) => `f${index}: []`).join(', ')}}`),
    'line 14, column 5: models[0].refuse_fields has 65 fields; write at most 64.',
  ],
  [
    'a hold in milliseconds',
    row('video', 'pricing: {per_second: "1"}\nengine: family-e\nhold_duration_seconds: 8000'),
    'line 14, column 5: models[0].hold_duration_seconds is 8000; write a number from 0.001 to 3600.',
  ],
]

describe('a catalog file', () => {
  test.each(refusals)('a catalog file with %s is refused', (_, text, ...expected) => {
    const parsed = parseCatalogFile(text)

    expect(parsed.ok ? [] : parsed.problems.map(formatFileProblem)).toEqual(expected)
  })

  test('a catalog file with many mistakes names all of them, in the order of the file', () => {
    const parsed = parseCatalogFile(tariff('input_per_mtok: 2\nbeer: "1"').replace('id: main', 'id: 7'))

    expect(parsed.ok ? [] : parsed.problems.map(({ line, field }) => `${line} ${field}`)).toEqual([
      '3 providers[0].id',
      '11 models[0].upstreams[0].provider',
      '15 models[0].pricing.input_per_mtok',
      '16 models[0].pricing.beer',
    ])
  })

  test('a catalog file reports at most fifty problems', () => {
    const parsed = parseCatalogFile(`providers: [${'1,'.repeat(900)}]\nmodels: []`)

    expect(parsed.ok ? 0 : parsed.problems.length).toBe(50)
  })

  test('a catalog file above the size limit is refused before it is parsed', () => {
    const parsed = parseCatalogFile('#'.repeat(FILE_LENGTH_MAX + 1))

    expect(parsed.ok ? '' : parsed.problems[0]!.message).toBe(
      'The file has 8388609 characters; write at most 8388608.',
    )
  })

  test('a catalog file with nested aliases needs no more memory than its text', () => {
    const levels = Array.from(
      { length: 60 },
      (_, level) => `a${level + 1}: &a${level + 1} [*a${level}, *a${level}]`,
    )

    const parsed = parseCatalogFile(`a0: &a0 [x]\n${levels.join('\n')}\nproviders: *a60\nmodels: []\n`)

    expect(parsed.ok).toBe(false)
  })

  test.each([
    ['lists', '['.repeat(50_000)],
    ['closed lists', '['.repeat(500) + ']'.repeat(500)],
    ['mappings', '{a: '.repeat(10_000)],
  ])('a catalog file with deeply nested %s is refused', (_, text) => {
    expect(parseCatalogFile(text).ok).toBe(false)
  })

  test('a catalog file may share a tariff with an anchor', () => {
    const text = `${chat('max_output_tokens: 1\npricing: &prices {input_per_mtok: "1", output_per_mtok: "2"}')}  - {id: b, kind: chat, max_output_tokens: 1, pricing: *prices, upstreams: [{provider: main, model: b}]}\n`

    const parsed = parseCatalogFile(text)

    expect(parsed.ok && parsed.catalog.models.map(model => model.pricing)).toEqual([
      { kind: 'tariff', tariff: { input: usd('1'), output: usd('2') } },
      { kind: 'tariff', tariff: { input: usd('1'), output: usd('2') } },
    ])
  })

  test('a catalog file may be JSON', () => {
    const parsed = parseCatalogFile('{"providers":[{"id":"box","kind":"sandbox"}],"models":[]}')

    expect(parsed.ok && parsed.catalog.providers[0]!.id).toBe('box')
  })

  test('a catalog file needs only fields without a default', () => {
    const parsed = parseCatalogFile(row('video', 'pricing: {per_second: "0.1"}\nengine: family-a'))

    expect(parsed.ok && parsed.catalog).toEqual({
      providers: [
        {
          id: 'main',
          kind: 'openai-compatible',
          baseUrl: 'https://api.example.com/v1',
          secret: { from: 'none' },
          headers: {},
          routes: ['chat', 'responses', 'embeddings'],
          maxTokensField: 'max_tokens',
          connectTimeoutMs: 5000,
          reusesConnections: true,
        },
        {
          id: 'box',
          kind: 'sandbox',
          secret: { from: 'none' },
          headers: {},
          routes: ['chat', 'responses', 'embeddings'],
          maxTokensField: 'max_tokens',
          connectTimeoutMs: 5000,
          reusesConnections: true,
        },
      ],
      models: [
        {
          id: 'x',
          kind: 'video',
          enabled: true,
          displayName: 'x',
          description: '',
          ownedBy: 'system',
          upstreams: [{ provider: 'box', model: 'x', order: 1, weight: 1 }],
          pricing: { perSecond: usd('0.1') },
          engine: 'family-a',
          params: {},
          fixedParams: {},
          holdDurationSeconds: 15,
        },
      ],
    })
  })

  test('a catalog file may have a disabled model without a price', () => {
    const parsed = parseCatalogFile(chat('enabled: false'))

    expect(parsed.ok && parsed.catalog.models[0]).toMatchObject({ id: 'gpt-x', enabled: false })
  })

  test('a catalog file in the documentation is valid', async () => {
    const page = await Bun.file(new URL('../../docs/catalog.md', import.meta.url)).text()
    const example = /```yaml\n([\s\S]*?)```/.exec(page)![1]!

    const parsed = parseCatalogFile(example)

    expect(parsed.ok ? [] : parsed.problems.map(formatFileProblem)).toEqual([])
  })
})
