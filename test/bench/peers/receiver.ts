/** A webhook receiver that counts what it got. `GET` tells the count, `DELETE` starts anew. */
import { createServer } from 'node:http'
import { announce } from './announce.ts'

let count = 0

const server = createServer((request, response) => {
  if (request.method === 'GET') return response.end(JSON.stringify({ count }))
  if (request.method === 'DELETE') count = 0
  request.resume().on('end', () => {
    if (request.method === 'POST') count += 1
    response.writeHead(200).end()
  })
})
server.listen(0, '127.0.0.1', () => announce(server))
