import type { Measure } from './bench.ts'
import { agents } from './rows/agents.ts'
import { boardSize } from './rows/board-size.ts'
import { boards } from './rows/boards.ts'
import { capacity } from './rows/capacity.ts'
import { cold } from './rows/cold.ts'
import { createBatch, createOne } from './rows/create.ts'
import { crowdRows } from './rows/crowds.ts'
import { joins } from './rows/joins.ts'
import { direct } from './rows/direct.ts'
import { arrange, layout } from './rows/layout.ts'
import { exchange } from './rows/exchange.ts'
import { files } from './rows/files.ts'
import { history } from './rows/history.ts'
import { feeds } from './rows/feeds.ts'
import { delivery } from './rows/delivery.ts'
import { move } from './rows/move.ts'
import { memory } from './rows/memory.ts'
import { nodes } from './rows/nodes.ts'
import { outbox } from './rows/outbox.ts'
import { rate } from './rows/rate.ts'
import { relayDurable } from './rows/relay-durable.ts'
import { relaySeen } from './rows/relay-seen.ts'
import { screen } from './rows/screen.ts'
import { search } from './rows/search.ts'
import { idleSockets } from './rows/sockets.ts'
import { web } from './rows/web.ts'
import { webHour } from './rows/web-hour.ts'

/** All measures, in the order in which they are taken. */
export const measures: Measure[] = [
  relayDurable,
  relaySeen,
  joins,
  crowdRows,
  agents,
  idleSockets,
  createOne,
  direct,
  createBatch,
  boardSize,
  cold,
  boards,
  feeds,
  outbox,
  screen,
  search,
  delivery,
  memory,
  layout,
  arrange,
  exchange,
  files,
  move,
  history,
  rate,
  web,
  webHour,
  nodes,
  capacity,
]
