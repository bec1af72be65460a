/**
 * node-relay-process.mjs PORT UPSTREAM_PORT MODEL FOLDER: a relay with node:http. It reads each request as a whole,
 * parses it, and forwards it if it names the model. Requests for other models get a 404. A body for `/v1/images/edits`
 * is stored in a file in the folder, and refused.
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream, unlink } from 'node:fs'
import { join } from 'node:path'
import { Agent, createServer, request } from 'node:http'

const [port, upstreamPort, model, folder] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })
const NOT_FOUND = JSON.stringify({ error: { message: 'No such model.', code: 'model_not_found' } })

createServer((incoming, response) => {
  if (incoming.url === '/v1/images/edits') return store(incoming, response)
  readAll(incoming, body => {
    if (JSON.parse(body.toString()).model === model) return forward(incoming.url, body, response)
    refuse(404, response)
  })
}).listen(Number(port), '127.0.0.1')

process.stdin.on('end', () => process.exit(0))
process.stdin.resume()

/** Stores the body in a file, and removes it. */
function store(incoming, response) {
  const file = join(folder, randomUUID())
  const stored = createWriteStream(file)
  stored.on('finish', () => unlink(file, () => refuse(400, response)))
  incoming.pipe(stored)
}

function refuse(status, response) {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': NOT_FOUND.length })
  response.end(NOT_FOUND)
}

function forward(path, body, response) {
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  const outgoing = request(
    { host: '127.0.0.1', port: upstreamPort, path, method: 'POST', headers, agent },
    answer => {
      readAll(answer, bytes => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length })
        response.end(bytes)
      })
    },
  )
  outgoing.on('error', () => response.destroy())
  outgoing.end(body)
}

function readAll(stream, then) {
  const pieces = []
  stream.on('data', piece => pieces.push(piece))
  stream.on('end', () => then(Buffer.concat(pieces)))
}
