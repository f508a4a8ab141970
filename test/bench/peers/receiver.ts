/**
 * A webhook receiver that counts requests. `GET /<number>` is answered at that count, and `DELETE` resets the count.
 */
import { createServer } from 'node:http'
import { announce } from './announce.ts'

let count = 0
/** Pending answers, by the count for which they wait. */
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
