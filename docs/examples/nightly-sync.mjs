/**
 * Copies the boards of a workspace with their cards into a file. Run it every night: it reads only what has changed.
 *
 *   CORKBOARD_URL=… CORKBOARD_TOKEN=… WORKSPACE=… node nightly-sync.mjs copy.json
 */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { createClient, isFailure } from '@corkboard/client'

const { CORKBOARD_URL: url, CORKBOARD_TOKEN: token, WORKSPACE: workspace } = process.env
const [file = 'copy.json'] = process.argv.slice(2)
// A service that restarts, or an hour that is used up, is waited for.
const client = createClient({ url, token, retryForMs: 3_600_000 })

const copy = await readCopy()
const startedAt = Date.now()
let changes = 0
for await (const { rows, cursor } of client.follow('GET /boards', {
  query: { workspace },
  cursor: copy.cursor,
  once: true,
})) {
  // A deleted board stays in the copy: it can be restored for 30 days.
  for (const board of rows) copy.boards[board.id] = { cards: {}, ...copy.boards[board.id], ...board }
  copy.cursor = cursor
  changes += rows.length
}
for (const board of Object.values(copy.boards)) await copyCards(board)

copy.endedAt = startedAt
// The rows and the cursors are replaced in one step. A run that is killed leaves the copy of the last one.
await writeFile(`${file}.new`, JSON.stringify(copy, null, 2))
await rename(`${file}.new`, file)
console.log(`${changes} changes, ${Object.keys(copy.boards).length} boards`)

async function copyCards(board) {
  try {
    for await (const { rows, cursor } of client.follow('GET /boards/{id}/cards', {
      path: { id: board.id },
      cursor: board.cardsCursor,
      once: true,
    })) {
      for (const card of rows) {
        if (card.deleted) delete board.cards[card.id]
        else board.cards[card.id] = card
      }
      board.cardsCursor = cursor
      changes += rows.length
    }
  } catch (error) {
    if (!isFailure(error, 'not_found')) throw error
    delete copy.boards[board.id] // purged from the trash, or out of sight
  }
}

/** Removed cards are told of for 30 days. After a longer pause the copy is made anew. */
async function readCopy() {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  const { boards = {}, endedAt = 0, cursor } = JSON.parse(text)
  return endedAt < Date.now() - 29 * 86_400_000 ? { boards: {} } : { boards, cursor }
}
