/**
 * Receives the deliveries of a webhook. While its secret is rotated, give the new and the previous one.
 *
 *   WEBHOOK_SECRET=whsec_…,whsec_… PORT=8080 node webhook-receiver.mjs
 */
import { createServer } from 'node:http'
import { createHandler } from '@corkboard/client'

/** Deliveries come at least once. A real receiver keeps their ids in its database, with what it did. */
const handled = new Set()

const handle = createHandler({
  secret: process.env.WEBHOOK_SECRET.split(','),
  onEvent(event, deliveryId) {
    if (handled.has(deliveryId)) return
    if (event.type === 'card.created') console.log(`${event.data.count} new on board ${event.board.id}`)
    else console.log(event.type)
    handled.add(deliveryId)
  },
  onError: (error) => console.error(String(error)),
})

// Where handlers get a Fetch `Request`, `handle` is the handler itself. Those of Node's server are of another kind.
createServer(async (request, response) => {
  const { method, url, headers } = request
  const body = method === 'POST' ? Buffer.concat(await request.toArray()) : undefined
  const answer = await handle(new Request(new URL(url, 'http://localhost'), { method, headers, body }))
  response.writeHead(answer.status).end()
}).listen(process.env.PORT, () => console.log('listening'))
