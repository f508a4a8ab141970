/**
 * The minimum that stores a card: a Fastify route and an insert with postgres.js, without access rights, document or
 * index.
 */
import Fastify from 'fastify'
import postgres from 'postgres'
import { announce } from './announce.ts'

interface Card {
  kind: string
  title: string
  body: string
  x: number
  y: number
  w: number
  h: number
}

const sql = postgres(process.env.BENCH_DATABASE_URL!, { onnotice: () => {} })
await sql`
  create table if not exists bench_cards (
    id uuid primary key default gen_random_uuid(),
    board_id uuid not null,
    kind text not null,
    title text,
    body text,
    x double precision,
    y double precision,
    w double precision,
    h double precision,
    created_at timestamptz not null default now()
  )`

const app = Fastify({ bodyLimit: 64 * 1024 * 1024 })
app.post<{ Params: { boardId: string }; Body: Card | { cards: Card[] } }>(
  '/boards/:boardId/cards',
  async (request, reply) => {
    const { boardId } = request.params
    const cards =
      'cards' in request.body
        ? await insertAll(boardId, request.body.cards)
        : await insert(boardId, request.body)
    return reply.code(201).send({ board_id: boardId, cards })
  },
)

function insert(boardId: string, card: Card) {
  return sql`
    insert into bench_cards (board_id, kind, title, body, x, y, w, h)
    values (${boardId}, ${card.kind}, ${card.title}, ${card.body}, ${card.x}, ${card.y}, ${card.w}, ${card.h})
    returning *`
}

function insertAll(boardId: string, cards: Card[]) {
  const rows = cards.map(({ kind, title, body, x, y, w, h }) => ({
    board_id: boardId,
    kind,
    title,
    body,
    x,
    y,
    w,
    h,
  }))
  return sql`insert into bench_cards ${sql(rows)} returning *`
}

await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server)
