/**
 * Answers questions on a board: notes whose title begins with a question mark. People see the answer appear on the card,
 * and may go on typing in it.
 *
 *   CORKBOARD_URL=… CORKBOARD_TOKEN=… BOARD=… node agent.mjs
 *
 * Give it the token of a service account: then people see that it is a program. An agent that a model drives by itself
 * connects to the MCP endpoint instead; see docs/agents.md.
 */
import { createClient, isFailure } from '@corkboard/client'

const { CORKBOARD_URL: url, CORKBOARD_TOKEN: token, BOARD: board, EVERY_MS = '10000' } = process.env
const client = createClient({ url, token })

for await (const { rows } of client.follow('GET /boards/{id}/cards', {
  path: { id: board },
  everyMs: Number(EVERY_MS),
})) {
  for (const card of rows) if (card.title?.startsWith('?')) await answer(card.id)
}

async function answer(card) {
  try {
    await client.edit({ board, card }, async ({ title, body }) => {
      if (body) return null // it has an answer
      const found = await think(title.slice(1).trim())
      console.log(`${title} ${found}`)
      return { body: found }
    })
  } catch (error) {
    if (!isFailure(error, 'not_found')) throw error // somebody has removed it
  }
}

/** Ask a model here. This one knows the cards that have the words of the question. */
async function think(question) {
  const { cards } = await client.request('GET /search', { query: { q: question, kind: 'card', limit: 5 } })
  const found = cards.items.filter(({ title }) => title && !title.startsWith('?'))
  return found.map(({ title }) => title).join(', ') || 'I know nothing of that.'
}
