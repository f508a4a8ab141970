/** A webhook receiver that counts what it got. `GET /<number>` is answered when it has that many, `DELETE` starts anew. */
import { createServer } from 'node:http'
import { announce } from './announce.ts'

let count = 0
/** Answers that wait, by the count that they wait for. */
const waiting = new Map<number, () => void>()

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const wanted = Number(request.url?.slice(1))
    if (count >= wanted) response.end()
    else waiting.set(wanted, () => response.end())
    return
  }
  if (request.method === 'DELETE') count = 0
  request.resume().on('end', () => {
    if (request.method === 'POST') count += 1
    response.writeHead(200).end()
    waiting.get(count)?.()
    waiting.delete(count)
  })
})
server.listen(0, '127.0.0.1', () => announce(server))
