// node openai-sdk.mjs KEY [MODEL], after `npm install openai`. GATEWAY_URL is the address of the gateway.
import OpenAI from 'openai'

const [, , apiKey, model = 'sandbox-chat'] = process.argv
const url = process.env.GATEWAY_URL ?? 'http://127.0.0.1:8787'
const client = new OpenAI({ apiKey, baseURL: `${url}/v1` })

const { data, response } = await client.chat.completions
  .create({ model, messages: [{ role: 'user', content: 'Hello' }] })
  .withResponse()

process.stdout.write(`${data.choices[0].message.content}\n`)
process.stdout.write(`cost: ${response.headers.get('x-service-cost-usd')} USD\n`)
